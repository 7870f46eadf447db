package webhooks

import (
	"strings"
	"testing"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// nginx is what the operator allows unless it is told otherwise.
var nginx = Options{IngressAnnotationPrefixes: v1beta1.DefaultIngressAnnotationPrefixes}

// withIngress is a spec with a TCP port and an Ingress for shop.example.com with further settings.
func withIngress(settings string) string {
	return `{ports: [{port: 80}], ingress: {host: shop.example.com, ` + settings + `}}`
}

func TestValidateIngress(t *testing.T) {
	runSpecCases(t, []specCase{
		{name: "a host", spec: withIngress(``)},
		{name: "G03 a class", spec: withIngress(`className: nginx.internal`)},
		{name: "G03 a class that is no name", spec: withIngress(`className: Nginx`), want: []string{"spec.ingress.className: Invalid value"}},
		{name: "a wildcard", spec: `{ports: [{port: 80}], ingress: {host: "*.example.com"}}`},
		{name: "no host", spec: `{ports: [{port: 80}], ingress: {}}`, want: []string{"spec.ingress.host: Required value"}},
		{name: "an address", spec: `{ports: [{port: 80}], ingress: {host: 10.0.0.010}}`, want: []string{"spec.ingress.host: Invalid value"}, says: "IP address"},
		{name: "an IPv6 address", spec: `{ports: [{port: 80}], ingress: {host: "2001:db8::1"}}`, want: []string{"spec.ingress.host: Invalid value"}, says: "IP address"},
		{name: "a host with a port", spec: `{ports: [{port: 80}], ingress: {host: "shop.example.com:80"}}`, want: []string{"spec.ingress.host: Invalid value"}, says: "without a port"},
		{name: "a star in the middle", spec: `{ports: [{port: 80}], ingress: {host: "a.*.com"}}`, want: []string{"spec.ingress.host: Invalid value"}},
		{name: "an unknown type of path", spec: withIngress(`pathType: Regex`), want: []string{"spec.ingress.pathType: Unsupported value"}},
	})
}

func TestValidateIngressPort(t *testing.T) {
	runSpecCases(t, []specCase{
		{name: "G01 several ports, none chosen: the first", spec: `{ports: [{port: 8080}, {port: 9090}], ingress: {host: a.b}}`},
		{name: "G01 the second one", spec: `{ports: [{port: 8080}, {port: 9090}], ingress: {host: a.b, port: 9090}}`},
		{
			name: "G01 a port that the Service has not",
			spec: `{ports: [{port: 8080, targetPort: 80, nodePort: 30080}], ingress: {host: a.b, port: 80}}`,
			want: []string{"spec.ingress.port: Invalid value"},
			says: "spec.ports",
		},
		{name: "no port", spec: `{ingress: {host: a.b, port: 80}}`, want: []string{"spec.ingress: Forbidden"}, says: "needs a TCP entry"},
		{name: "no TCP port", spec: `{ports: [{port: 53, protocol: UDP}], ingress: {host: a.b}}`, want: []string{"spec.ingress: Forbidden"}},
		{name: "the number of a UDP port", spec: `{ports: [{port: 80}, {port: 53, protocol: UDP}], ingress: {host: a.b, port: 53}}`, want: []string{"spec.ingress.port: Invalid value"}},
		{name: "S03 a node port beside an Ingress", spec: `{ports: [{port: 80, nodePort: 30080}], ingress: {host: a.b}}`},
	})
}

func TestValidateIngressPath(t *testing.T) {
	var cases []specCase
	for _, path := range []string{"/", "/a/b", "/a.b/..c", "/%20", "/ü", "/a/"} {
		cases = append(cases, specCase{name: "right: " + path, spec: withIngress(`path: "` + path + `"`)})
	}
	for _, path := range []string{"a", "//", "/a//b", "/./", "/a/../b", "/a/..", "/a/.", "/a%2fb", "/a%2Fb", "/a b", "/a;b", "/{a}", "/a$", "/a'b", `/a\\b`, `/a\"b`} {
		cases = append(cases, specCase{name: "wrong: " + path, spec: withIngress(`path: "` + path + `"`), want: []string{"spec.ingress.path: Invalid value"}})
	}
	cases = append(cases,
		specCase{name: "what the controller alone understands", spec: withIngress(`pathType: ImplementationSpecific, path: "/a//b/.."`)},
		specCase{name: "what breaks out of its configuration", spec: withIngress(`pathType: ImplementationSpecific, path: "/a{return 200;}"`), want: []string{"spec.ingress.path: Invalid value"}},
	)
	runSpecCases(t, cases)
}

func TestValidateIngressAnnotations(t *testing.T) {
	open := Options{IngressAnnotationPrefixes: []string{"nginx.ingress.kubernetes.io/configuration-snippet", "kubernetes.io/", "cert-manager.io/"}}
	runSpecCases(t, []specCase{
		{name: "G04 an ordinary one", opts: nginx, spec: withIngress(`annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 8m}`)},
		{
			name: "G04 a snippet", opts: nginx,
			spec: withIngress(`annotations: {nginx.ingress.kubernetes.io/configuration-snippet: "return 200;"}`),
			want: []string{"spec.ingress.annotations[nginx.ingress.kubernetes.io/configuration-snippet]: Invalid value"},
			says: "administrators",
		},
		{name: "G04 a snippet that the administrator allowed", opts: open, spec: withIngress(`annotations: {nginx.ingress.kubernetes.io/configuration-snippet: "return 200;"}`)},
		{
			name: "G04 a value that breaks out", opts: nginx,
			spec: withIngress(`annotations: {nginx.ingress.kubernetes.io/proxy-body-size: "8m; }"}`),
			want: []string{"spec.ingress.annotations[nginx.ingress.kubernetes.io/proxy-body-size]: Invalid value"},
		},
		{
			name: "G04 a line break", opts: open,
			spec: withIngress(`annotations: {nginx.ingress.kubernetes.io/configuration-snippet: "a\nb"}`),
			want: []string{"spec.ingress.annotations[nginx.ingress.kubernetes.io/configuration-snippet]: Invalid value"},
			says: "single line",
		},
		{
			name: "G04 a foreign prefix", opts: nginx,
			spec: withIngress(`annotations: {traefik.io/a: b}`),
			want: []string{"spec.ingress.annotations[traefik.io/a]: Invalid value"},
			says: "nginx.ingress.kubernetes.io/",
		},
		{
			name: "G04 none allowed", spec: withIngress(`annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 8m}`),
			want: []string{"spec.ingress.annotations[nginx.ingress.kubernetes.io/proxy-body-size]: Invalid value"},
			says: "allows no annotations",
		},
		{
			name: "G03 the class by its old name, allowed or not", opts: open,
			spec: withIngress(`annotations: {kubernetes.io/ingress.class: nginx}`),
			want: []string{"spec.ingress.annotations[kubernetes.io/ingress.class]: Invalid value"},
			says: "className",
		},
		{
			name: "cert-manager's own beside an issuer", opts: open,
			spec: withIngress(`tls: {issuerRef: {name: ca}}, annotations: {cert-manager.io/issuer: ca, kubernetes.io/tls-acme: "true"}`),
			want: []string{"spec.ingress.annotations[cert-manager.io/issuer]: Invalid value", "spec.ingress.annotations[kubernetes.io/tls-acme]: Invalid value"},
			says: "tls.issuerRef",
		},
		{name: "cert-manager's own without one", opts: open, spec: withIngress(`tls: {secretName: tls}, annotations: {cert-manager.io/issuer: ca}`)},
		{
			name: "a key", opts: nginx,
			spec: withIngress(`annotations: {nginx.ingress.kubernetes.io/a/b: c}`),
			want: []string{"spec.ingress.annotations[nginx.ingress.kubernetes.io/a/b]: Invalid value"},
		},
		{
			name: "too much", opts: nginx,
			spec: withIngress(`annotations: {nginx.ingress.kubernetes.io/a: ` + strings.Repeat("x", 256<<10) + `}`),
			want: []string{"spec.ingress.annotations: Too long"},
		},
	})
}

func TestValidateIngressTLS(t *testing.T) {
	runSpecCases(t, []specCase{
		{name: "a Secret", spec: withIngress(`tls: {secretName: shop.tls}`)},
		{name: "an issuer", spec: withIngress(`tls: {issuerRef: {name: ca, kind: ClusterIssuer}}`)},
		{name: "both", spec: withIngress(`tls: {secretName: a, issuerRef: {name: ca}}`)},
		{name: "neither", spec: withIngress(`tls: {}`), want: []string{"spec.ingress.tls: Required value"}},
		{
			name: "X02 names of this namespace",
			spec: withIngress(`tls: {secretName: other/tls, issuerRef: {name: ""}}`),
			want: []string{"spec.ingress.tls.secretName: Invalid value", "spec.ingress.tls.issuerRef.name: Required value"},
		},
		{name: "an unknown kind", spec: withIngress(`tls: {issuerRef: {name: ca, kind: AWSPCAIssuer}}`), want: []string{"spec.ingress.tls.issuerRef.kind: Unsupported value"}},
	})
}
