package webhooks

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// interval is the part of Prometheus' durations that everybody reads alike.
var interval = regexp.MustCompile(`^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?$`)

func validateMetrics(path *field.Path, spec *v1beta1.MyAppSpec) field.ErrorList {
	own := spec.Metrics
	if own == nil {
		return nil
	}
	errs := tcpEntry(path, spec, own.Port)
	if p := own.Path; p != "" && (!strings.HasPrefix(p, "/") || strings.ContainsAny(p, " \t\r\n\v\f")) {
		errs = append(errs, field.Invalid(path.Child("path"), p, "must begin with '/' and hold no white space, as /metrics"))
	}
	switch i := own.Interval; {
	case i == "":
	case !interval.MatchString(i):
		errs = append(errs, field.Invalid(path.Child("interval"), i, "must be a duration as 30s, 1m30s or 1h, in this order of units"))
	case !strings.ContainsAny(i, "123456789"):
		errs = append(errs, field.Invalid(path.Child("interval"), i, "must be longer than 0; remove it for the interval of the Prometheus"))
	}
	return errs
}
