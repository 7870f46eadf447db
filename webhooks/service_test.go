package webhooks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidateService(t *testing.T) {
	allow := Options{ServiceAnnotationPrefixes: []string{"lb.example.com/", "external-dns.alpha.kubernetes.io/"}}
	runSpecCases(t, []specCase{
		{name: "settings with ports", spec: `{service: {type: LoadBalancer, externalTrafficPolicy: Local, loadBalancerClass: example.com/internal}, ports: [{port: 80}]}`},
		{
			name: "settings without ports",
			spec: `{service: {type: ClusterIP}}`,
			want: []string{"spec.service: Forbidden"},
			says: "spec.ports",
		},
		{name: "S04 externalTrafficPolicy under ClusterIP", spec: `{service: {type: ClusterIP, externalTrafficPolicy: Local}, ports: [{port: 80}]}`},
		{name: "S04 externalTrafficPolicy under the default type", spec: `{service: {externalTrafficPolicy: Local}, ports: [{port: 80}]}`},
		{name: "S04 loadBalancerClass under another type", spec: `{service: {loadBalancerClass: internal}, ports: [{port: 80}]}`},
		{
			name: "loadBalancerClass that is no name",
			spec: `{service: {type: LoadBalancer, loadBalancerClass: "a b"}, ports: [{port: 80}]}`,
			want: []string{"spec.service.loadBalancerClass: Invalid value"},
		},
		{
			name: "G04 annotations where none are allowed",
			spec: `{service: {annotations: {lb.example.com/id: abc}}, ports: [{port: 80}]}`,
			want: []string{"spec.service.annotations[lb.example.com/id]: Invalid value"},
			says: "allows no annotations",
		},
		{
			name: "G04 annotations in and outside the list",
			spec: `{service: {annotations: {lb.example.com/id: abc, lb.example.org/id: abc}}, ports: [{port: 80}]}`,
			opts: allow,
			want: []string{"spec.service.annotations[lb.example.org/id]: Invalid value"},
			says: "lb.example.com/ or external-dns.alpha.kubernetes.io/",
		},
		{
			name: "an annotation's line break",
			spec: `{service: {annotations: {lb.example.com/id: "a\nb: c"}}, ports: [{port: 80}]}`,
			opts: allow,
			want: []string{"spec.service.annotations[lb.example.com/id]: Invalid value"},
			says: "single line",
		},
		{
			name: "an annotation's key",
			spec: `{service: {annotations: {lb.example.com/a/b: c}}, ports: [{port: 80}]}`,
			opts: allow,
			want: []string{"spec.service.annotations[lb.example.com/a/b]: Invalid value"},
		},
	})
}

func TestLoadBalancerClassCannotChange(t *testing.T) {
	const path = "spec.service.loadBalancerClass: Invalid value"
	lb := func(class string) string {
		return `{service: {type: LoadBalancer, loadBalancerClass: "` + class + `"}, ports: [{port: 80}]}`
	}
	for _, c := range []struct {
		name, before, after string
		want                []string
	}{
		{"unchanged", lb("a"), lb("a"), nil},
		{"changed", lb("a"), lb("b"), []string{path}},
		{"removed", lb("a"), lb(""), []string{path}},
		{"set later", lb(""), lb("b"), []string{path}},
		{"the type goes", lb("a"), `{ports: [{port: 80}]}`, nil},
		{"the type comes", `{ports: [{port: 80}]}`, lb("a"), nil},
		{"there was no Service", `{service: {type: LoadBalancer}}`, lb("a"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			introduced, _ := validateUpdate(myApp(t, c.before), myApp(t, c.after), Options{})
			if diff := cmp.Diff(c.want, problems(introduced)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		opts Options
		says string
	}{
		{"none", Options{}, ""},
		{"prefixes and a profile", Options{
			ServiceAnnotationPrefixes: []string{"lb.example.com/"}, IngressAnnotationPrefixes: []string{"nginx.ingress.kubernetes.io/"},
			DisabledChildren: []string{"ingress"}, DefaultSecurityProfile: "Restricted",
		}, ""},
		{"an empty prefix", Options{ServiceAnnotationPrefixes: []string{""}}, "prefix"},
		{"an empty prefix of Ingress annotations", Options{IngressAnnotationPrefixes: []string{"nginx.ingress.kubernetes.io/", ""}}, "Ingress"},
		{"an unknown profile", Options{DefaultSecurityProfile: "restricted"}, `"restricted"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.opts.check()
			if c.says == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("want an error that says %s, got %v", c.says, err)
			}
		})
	}
}
