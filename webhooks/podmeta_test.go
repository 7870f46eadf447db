package webhooks

import (
	"strings"
	"testing"
)

func TestValidatePodLabels(t *testing.T) {
	runSpecCases(t, []specCase{
		{name: "S07 app may be overridden", spec: `{podLabels: {app: web, example.com/tier: front, empty: ""}}`},
		{
			name: "S07 the operator's own",
			spec: `{podLabels: {app.kubernetes.io/name: a, app.kubernetes.io/managed-by: a, app.kubernetes.io/instance: a, app.kubernetes.io/part-of: a}}`,
			want: []string{
				"spec.podLabels[app.kubernetes.io/instance]: Forbidden", "spec.podLabels[app.kubernetes.io/managed-by]: Forbidden",
				"spec.podLabels[app.kubernetes.io/name]: Forbidden",
			},
		},
		{
			name: "keys and values",
			spec: `{podLabels: {a b: c, d: e f}}`,
			want: []string{"spec.podLabels[a b]: Invalid value", "spec.podLabels[d]: Invalid value"},
		},
	})
}

func TestValidatePodAnnotations(t *testing.T) {
	runSpecCases(t, []specCase{
		{name: "anybody's", spec: `{podAnnotations: {Example.com/a: "any\nvalue", prometheus.io/scrape: "true"}}`},
		{
			name: "the operator's own",
			spec: `{podAnnotations: {app.ydzs.io/paused: "true", kubectl.kubernetes.io/restartedAt: now}}`,
			want: []string{"spec.podAnnotations[app.ydzs.io/paused]: Forbidden", "spec.podAnnotations[kubectl.kubernetes.io/restartedAt]: Forbidden"},
			says: "kubectl rollout restart",
		},
		{name: "a key", spec: `{podAnnotations: {a/b/c: d}}`, want: []string{"spec.podAnnotations[a/b/c]: Invalid value"}},
		{
			name: "AppArmor",
			spec: `{podAnnotations: {container.apparmor.security.beta.kubernetes.io/app: runtime/default, container.apparmor.security.beta.kubernetes.io/b: unconfined, container.apparmor.security.beta.kubernetes.io/c: localhost/x}}`,
			want: []string{"spec.podAnnotations[container.apparmor.security.beta.kubernetes.io/b]: Forbidden"},
			says: "appArmorProfile",
		},
		{
			name: "seccomp",
			spec: `{podAnnotations: {seccomp.security.alpha.kubernetes.io/pod: runtime/default, container.seccomp.security.alpha.kubernetes.io/app: unconfined}}`,
			want: []string{
				"spec.podAnnotations[container.seccomp.security.alpha.kubernetes.io/app]: Forbidden",
				"spec.podAnnotations[seccomp.security.alpha.kubernetes.io/pod]: Forbidden",
			},
			says: "seccompProfile",
		},
		{
			name: "too much",
			spec: `{podAnnotations: {a: ` + strings.Repeat("x", 256<<10) + `}}`,
			want: []string{"spec.podAnnotations: Too long"},
		},
	})
}

func TestValidateReferences(t *testing.T) {
	runSpecCases(t, []specCase{
		{name: "X02 names of this namespace", spec: `{serviceAccountName: web.v1, imagePullSecrets: [{name: a}, {name: b}]}`},
		{name: "X02 another namespace", spec: `{serviceAccountName: kube-system/admin}`, want: []string{"spec.serviceAccountName: Invalid value"}},
		{
			name: "pull secrets",
			spec: `{imagePullSecrets: [{name: a}, {name: a}, {}, {name: A}]}`,
			want: []string{"spec.imagePullSecrets[1].name: Duplicate value", "spec.imagePullSecrets[2].name: Required value", "spec.imagePullSecrets[3].name: Invalid value"},
		},
	})
}
