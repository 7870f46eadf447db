package v1beta1

import (
	"fmt"
	"slices"
	"strings"
)

// DefaultIngressAnnotationPrefixes are the prefixes of the annotations that a MyApp may put on its Ingress when the
// operator was started without --ingress-annotation-prefixes.
var DefaultIngressAnnotationPrefixes = []string{"nginx.ingress.kubernetes.io/"}

// riskyAnnotationWords are parts of annotation keys by which ingress controllers take configuration as text, lead a
// request elsewhere, change who may come in, or read a Secret of any namespace.
var riskyAnnotationWords = []string{
	"snippet", "lua", "modsecurity", "auth", "rewrite", "redirect", "app-root", "alias", "vhost", "mirror", "secret",
}

// RefuseIngressAnnotation says why a MyApp may not put an annotation on its Ingress; empty when it may.
//
// A prefix that ends with '/' opens a family: of its keys those with a risky word stay closed, and values may hold no
// quotes, braces, semicolons or backslashes, by which text breaks out of a generated configuration. A longer prefix names
// keys on purpose, and they are open with any value. Nobody may use more than one line.
func RefuseIngressAnnotation(key, value string, prefixes []string) string {
	matching := slices.DeleteFunc(slices.Clone(prefixes), func(p string) bool { return !strings.HasPrefix(key, p) })
	_, name, _ := strings.Cut(key, "/")
	isRisky := func(word string) bool { return strings.Contains(strings.ToLower(name), word) }
	switch {
	case len(matching) == 0:
		return refusedPrefix(prefixes)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' }):
		return "must be a single line; remove the line breaks"
	case slices.ContainsFunc(matching, func(p string) bool { return !strings.HasSuffix(p, "/") }):
		return ""
	case slices.ContainsFunc(riskyAnnotationWords, isRisky):
		return "can inject configuration, authentication or rewrites into the ingress controller; remove it, or ask the platform's administrators to name this very key in --ingress-annotation-prefixes"
	case strings.ContainsAny(value, "\"'`{};\\"):
		return "must not hold quotes, braces, semicolons or backslashes, which can break out of the ingress controller's configuration; remove them, or ask the platform's administrators to name this very key in --ingress-annotation-prefixes"
	default:
		return ""
	}
}

func refusedPrefix(prefixes []string) string {
	if len(prefixes) == 0 {
		return "this operator allows no annotations on Ingresses; remove it, or ask the platform's administrators for a prefix in --ingress-annotation-prefixes"
	}
	return fmt.Sprintf("this operator allows only keys that begin with %s; remove it, or ask the platform's administrators for another prefix in --ingress-annotation-prefixes",
		strings.Join(prefixes, " or "))
}
