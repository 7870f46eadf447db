package webhooks

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// Kubernetes' own evaluator is the judge: for contexts put together at random, admission says yes exactly when Pod
// Security admits the pod, at the level that the MyApp's profile stands for.
func TestVerdictsAgreeWithPodSecurity(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	levels := map[v1beta1.SecurityProfile]api.Level{
		v1beta1.SecurityProfileBaseline:   api.LevelBaseline,
		v1beta1.SecurityProfileRestricted: api.LevelRestricted,
	}
	r := rand.New(rand.NewPCG(1, 2))
	admitted := map[v1beta1.SecurityProfile]int{}
	const rounds = 20000
	for range rounds {
		for profile, level := range levels {
			app := randomContexts(r)
			app.Spec.SecurityProfile = profile
			meta, pod := podOf(app)
			result := policy.AggregateCheckResults(evaluator.EvaluatePod(api.LevelVersion{Level: level, Version: api.LatestVersion()}, meta, pod))
			errs := validate(app, Options{})
			if result.Allowed != (len(errs) == 0) {
				t.Fatalf("under %s admission finds %v, Pod Security says %q\nMyApp: %s", profile, errs, result.ForbiddenDetail(), encode(t, app.Spec))
			}
			if result.Allowed {
				admitted[profile]++
			}
		}
	}
	for profile, n := range admitted {
		if n < rounds/100 || n > rounds*99/100 {
			t.Errorf("under %s %d of %d pods are admitted; the test says little about the others", profile, n, rounds)
		}
	}
}

// podOf is the pod that the profile and the MyApp's contexts make together.
func podOf(app *v1beta1.MyApp) (*metav1.ObjectMeta, *corev1.PodSpec) {
	app = app.DeepCopy()
	pod := ptr.Deref(app.Spec.PodSecurityContext, corev1.PodSecurityContext{})
	container := ptr.Deref(app.Spec.SecurityContext, corev1.SecurityContext{})
	if pod.SeccompProfile == nil {
		pod.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	if container.AllowPrivilegeEscalation == nil {
		container.AllowPrivilegeEscalation = ptr.To(false)
	}
	if app.Spec.SecurityProfile == v1beta1.SecurityProfileRestricted {
		if pod.RunAsNonRoot == nil {
			pod.RunAsNonRoot = ptr.To(true)
		}
		if container.Capabilities == nil {
			container.Capabilities = &corev1.Capabilities{}
		}
		if container.Capabilities.Drop == nil {
			container.Capabilities.Drop = []corev1.Capability{"ALL"}
		}
	}
	spec := &corev1.PodSpec{SecurityContext: &pod, Containers: []corev1.Container{{Name: "app", SecurityContext: &container}}}
	if probes := app.Spec.Probes; probes != nil {
		spec.Containers[0].LivenessProbe = probes.Liveness
	}
	return &metav1.ObjectMeta{Annotations: app.Spec.PodAnnotations}, spec
}

// randomContexts sets few fields at a time, so that a fair share of the outcomes is good.
func randomContexts(r *rand.Rand) *v1beta1.MyApp {
	app := &v1beta1.MyApp{}
	app.Spec.Image = testImage
	pod, container := &corev1.PodSecurityContext{}, &corev1.SecurityContext{}
	setters := []func(){
		func() { container.Privileged = pick(r, ptr.To(true), ptr.To(false)) },
		func() { container.AllowPrivilegeEscalation = pick(r, ptr.To(true), ptr.To(false)) },
		func() { container.Capabilities = randomCapabilities(r) },
		func() {
			container.ProcMount = pick(r, ptr.To(corev1.DefaultProcMount), ptr.To(corev1.UnmaskedProcMount))
		},
		func() { container.RunAsUser, pod.RunAsUser = pick(r, ids...), pick(r, ids...) },
		func() { container.RunAsNonRoot, pod.RunAsNonRoot = pick(r, bools...), pick(r, bools...) },
		func() { container.SELinuxOptions, pod.SELinuxOptions = randomSELinux(r), randomSELinux(r) },
		func() { container.SeccompProfile, pod.SeccompProfile = randomSeccomp(r), randomSeccomp(r) },
		func() { container.AppArmorProfile, pod.AppArmorProfile = randomAppArmor(r), randomAppArmor(r) },
		func() {
			container.WindowsOptions = &corev1.WindowsSecurityContextOptions{HostProcess: pick(r, bools...)}
			pod.WindowsOptions = &corev1.WindowsSecurityContextOptions{HostProcess: pick(r, bools...)}
		},
		func() { pod.Sysctls = []corev1.Sysctl{{Name: pick(r, append(safeSysctls, "kernel.msgmax", "")...)}} },
		func() {
			app.Spec.PodAnnotations = map[string]string{corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + "app": pick(r, "", "runtime/default", "localhost/a", "unconfined", "runtime")}
		},
		func() { app.Spec.Probes = &v1beta1.Probes{Liveness: randomProbe(r)} },
	}
	for range r.IntN(5) {
		pick(r, setters...)()
	}
	app.Spec.PodSecurityContext, app.Spec.SecurityContext = pick(r, pod, pod, pod, nil), pick(r, container, container, container, nil)
	return app
}

var (
	bools  = []*bool{nil, ptr.To(true), ptr.To(false)}
	port80 = intstr.FromInt32(80)
	ids    = []*int64{nil, ptr.To[int64](0), ptr.To[int64](1000)}
)

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func randomCapabilities(r *rand.Rand) *corev1.Capabilities {
	some := func(values []corev1.Capability) []corev1.Capability {
		return pick(r, nil, []corev1.Capability{}, []corev1.Capability{pick(r, values...)}, []corev1.Capability{pick(r, values...), pick(r, values...)})
	}
	return &corev1.Capabilities{
		Add:  some(append([]corev1.Capability{"NET_BIND_SERVICE", "NET_RAW", "SYS_ADMIN", "CAP_SYS_ADMIN", "ALL", "chown"}, addable...)),
		Drop: some([]corev1.Capability{"ALL", "KILL", "all"}),
	}
}

func randomSELinux(r *rand.Rand) *corev1.SELinuxOptions {
	return pick(r, nil, &corev1.SELinuxOptions{
		Type: pick(r, "", "container_t", "container_init_t", "container_kvm_t", "container_engine_t", "spc_t"),
		User: pick(r, "", "", "", "system_u"), Role: pick(r, "", "", "", "system_r"), Level: pick(r, "", "s0"),
	})
}

func randomSeccomp(r *rand.Rand) *corev1.SeccompProfile {
	return pick(r, nil,
		&corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}, &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined},
		&corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: ptr.To("a")}, &corev1.SeccompProfile{})
}

func randomAppArmor(r *rand.Rand) *corev1.AppArmorProfile {
	return pick(r, nil,
		&corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}, &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined},
		&corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: ptr.To("a")}, &corev1.AppArmorProfile{})
}

func randomProbe(r *rand.Rand) *corev1.Probe {
	host := pick(r, "", "10.0.0.1")
	return pick(r,
		&corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port80, Host: host}}},
		&corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: port80, Host: host}}})
}
