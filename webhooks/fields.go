package webhooks

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func duplicate(path *field.Path, value any, detail string) *field.Error {
	err := field.Duplicate(path, value)
	err.Detail = detail
	return err
}

// oneOf demands one of the allowed values; where an empty one is allowed too, it is left out of the message.
func oneOf[T ~string](path *field.Path, value T, allowed ...T) field.ErrorList {
	if slices.Contains(allowed, value) {
		return nil
	}
	shown := slices.DeleteFunc(slices.Clone(allowed), func(v T) bool { return v == "" })
	return field.ErrorList{field.NotSupported(path, value, shown)}
}

// oneOfIfSet is oneOf for an optional field.
func oneOfIfSet[T ~string](path *field.Path, value *T, allowed ...T) field.ErrorList {
	if value == nil {
		return nil
	}
	return oneOf(path, *value, allowed...)
}

func portNumber(path *field.Path, port int32) field.ErrorList {
	if port >= 1 && port <= 65535 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, port, "must be a port number from 1 to 65535")}
}

// objectName judges the name of an object of the same namespace that the spec refers to.
func objectName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "give the name of an object in this namespace")}
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return field.ErrorList{field.Invalid(path, name, "is no object's name: use at most 253 lower case letters, digits, '-' and '.', with a letter or digit at each end and beside each '.'")}
	}
	return nil
}

// all turns the messages of apimachinery's checks into errors at one path.
func all(path *field.Path, value string, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, m := range messages {
		errs = append(errs, field.Invalid(path, value, m))
	}
	return errs
}
