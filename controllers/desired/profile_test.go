package desired

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// violations are what Pod Security admission would say to pods of this template in a namespace that enforces the level.
func violations(t testing.TB, profile v1beta1.SecurityProfile, template corev1.PodTemplateSpec) string {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := api.LevelBaseline
	if profile == v1beta1.SecurityProfileRestricted {
		level = api.LevelRestricted
	}
	at := api.LevelVersion{Level: level, Version: api.LatestVersion()}
	result := policy.AggregateCheckResults(evaluator.EvaluatePod(at, &template.ObjectMeta, &template.Spec))
	if result.Allowed {
		return ""
	}
	return string(level) + ": " + result.ForbiddenDetail()
}

func TestPodsFollowTheirProfile(t *testing.T) {
	forEach(t, func(t *testing.T, app *v1beta1.MyApp) {
		in := Input{App: app}
		if v := violations(t, in.profile(), podTemplateOf(t, Deployment(in, nil))); v != "" {
			t.Errorf("a namespace that enforces the MyApp's own profile refuses its pods: %s", v)
		}
	})
}

func TestPodsFollowTheDefaultProfile(t *testing.T) {
	in := Input{App: myApp(t, ""), Options: Options{DefaultSecurityProfile: v1beta1.SecurityProfileRestricted}}
	if v := violations(t, v1beta1.SecurityProfileRestricted, podTemplateOf(t, Deployment(in, nil))); v != "" {
		t.Errorf("with --default-security-profile=Restricted a namespace that enforces it refuses the pods: %s", v)
	}
}

// The checker must be able to say no, or the tests above say nothing.
func TestBadTemplatesAreRefused(t *testing.T) {
	cases := []struct {
		name    string
		profile v1beta1.SecurityProfile
		spoil   func(*corev1.PodSpec)
		says    string
	}{
		{"host network", v1beta1.SecurityProfileBaseline, func(p *corev1.PodSpec) { p.HostNetwork = true }, "hostNetwork=true"},
		{"host port", v1beta1.SecurityProfileBaseline, func(p *corev1.PodSpec) { p.Containers[0].Ports[0].HostPort = 80 }, "hostPort 80"},
		{"privileged", v1beta1.SecurityProfileBaseline, func(p *corev1.PodSpec) { p.Containers[0].SecurityContext.Privileged = ptr(true) }, "must not set securityContext.privileged=true"},
		{"host path", v1beta1.SecurityProfileBaseline, func(p *corev1.PodSpec) {
			p.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
		}, "hostPath"},
		{"Baseline pods under restricted", v1beta1.SecurityProfileRestricted, func(*corev1.PodSpec) {}, "runAsNonRoot != true"},
		{"a privilege escalation under restricted", v1beta1.SecurityProfileRestricted, func(p *corev1.PodSpec) {
			p.Containers[0].SecurityContext.AllowPrivilegeEscalation = ptr(true)
		}, "allowPrivilegeEscalation != false"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			template := podTemplateOf(t, deployment(myApp(t, "ports: [{port: 80}]")))
			c.spoil(&template.Spec)
			if v := violations(t, c.profile, template); !strings.Contains(v, c.says) {
				t.Errorf("want a violation that says %q, got %q", c.says, v)
			}
		})
	}
}
