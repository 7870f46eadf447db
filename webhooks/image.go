package webhooks

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateImage(path *field.Path, image string) field.ErrorList {
	if image == "" {
		return field.ErrorList{field.Required(path, "give the reference of a container image, for example registry.example.com/team/web:1.4")}
	}
	if problem := imageProblem(image); problem != "" {
		return field.ErrorList{field.Invalid(path, image, problem)}
	}
	return nil
}

const lowerCase = "the repository must be lower case; only a tag may have capital letters"

// imageProblem judges with the parser of the container runtimes, then finds the likeliest cause to name.
func imageProblem(image string) string {
	if strings.ContainsFunc(image, unicode.IsSpace) {
		return "must not contain white space; remove it"
	}
	_, err := reference.ParseNormalizedNamed(image)
	if err == nil {
		return capitalHostProblem(image)
	}
	name, _, hasDigest := strings.Cut(image, "@")
	if hasDigest && parses(name) {
		return "the digest must be sha256:, sha384: or sha512: with 64, 96 or 128 lower case hexadecimal digits; copy it whole or leave @ and all after it out"
	}
	if parses(strings.ToLower(image)) {
		return lowerCase
	}
	return fmt.Sprintf("is no image reference (%v); write [registry[:port]/]repository[:tag][@digest]", err)
}

// capitalHostProblem refuses what the parser accepts: the first part of Team/web is taken for a host, for no better reason
// than its capital letter, and the pull then fails with a look-up of the host "Team". Hardly anybody means that.
func capitalHostProblem(image string) string {
	first, _, found := strings.Cut(image, "/")
	if !found || strings.ContainsAny(first, ".:") || first == strings.ToLower(first) {
		return ""
	}
	return fmt.Sprintf("%s, and %q would be taken for a registry's host; a host has a dot or a port", lowerCase, first)
}

func parses(image string) bool {
	_, err := reference.ParseNormalizedNamed(image)
	return err == nil
}
