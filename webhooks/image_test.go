package webhooks

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestValidateImage(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct {
		name, image, says string
	}{
		{"a familiar name", "nginx:1.7.9", ""},
		{"M01 a port, no tag", "registry.example.com:5000/team/web", ""},
		{"M01 localhost with a port", "localhost:5000/web:1.2", ""},
		{"M01 an IPv6 host", "[2001:db8::1]:5000/team/web:1.2", ""},
		{"localhost without a port", "localhost/web:1", ""},
		{"M02 tag and digest", "registry.example.com/team/web:1.4@sha256:" + hex, ""},
		{"M02 sha512", "registry.example.com/team/web@sha512:" + hex + hex, ""},
		{"M02 sha384", "registry.example.com/team/web@sha384:" + hex + hex[:32], ""},
		{"M02 a short digest", "registry.example.com/team/web@sha256:0123abcd", "the digest must be"},
		{"M02 an unknown algorithm", "registry.example.com/team/web@md5:" + hex[:32], "the digest must be"},
		{"a digest in capitals", "web@sha256:" + strings.ToUpper(hex), "the digest must be"},
		{"an algorithm in capitals", "web@SHA256:" + hex, "the digest must be"},
		{"an empty digest", "web@", "the digest must be"},
		{"M04 capitals in the repository", "registry.example.com/Team/web:1", "lower case"},
		{"M04 capitals that make a host", "Team/web:1", "lower case"},
		{"M04 capitals in the tag", "registry.example.com/team/web:RC1", ""},
		{"capitals in a real host", "Registry.example.com/team/web:1", ""},
		{"capitals in a host with a port", "Registry:5000/web:1", ""},
		{"capitals in a familiar name", "Nginx", "lower case"},
		{"a bare digest as a name", hex, "[@digest]"},
		{"white space inside", "nginx :1.7.9", "white space"},
		{"white space at the end", "nginx:1.7.9\n", "white space"},
		{"an empty tag", "nginx:", "[:tag]"},
		{"a scheme", "https://registry.example.com/web:1", "[registry[:port]/]repository"},
		{"a repository of 256 characters", "a.io/" + strings.Repeat("a", 256), "255"},
		{"empty", "", "registry.example.com/team/web:1.4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			errs := validateImage(field.NewPath("spec", "image"), c.image)
			if c.says == "" {
				if len(errs) > 0 {
					t.Fatalf("refused: %v", errs)
				}
				return
			}
			if len(errs) != 1 || errs[0].Field != "spec.image" || !strings.Contains(errs[0].Detail, c.says) {
				t.Fatalf("want one problem of spec.image that says %q, got %v", c.says, errs)
			}
		})
	}
}
