package desired

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// A default that depends on another field must follow that field: a MyApp whose field is changed has the children of a
// fresh one. Admission has defaulted and stored the MyApp before the change.
func TestResolvedDefaultsFollow(t *testing.T) {
	cases := []struct{ name, before, after string }{
		{"pull policy follows the image to a tag", "image: web", "image: web:1"},
		{"pull policy follows the image to no tag", "image: web:1", "image: web"},
		{"pull policy follows the image to a digest", "image: web:latest", "image: web@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
		{"service type is no memory of ClusterIP", "{ports: [{port: 80}], service: {type: ClusterIP}}", "ports: [{port: 80}]"},
		{"service type comes with the first port", "{}", "ports: [{port: 80}]"},
		{"P04 port names come with the second port", "ports: [{port: 80}]", "ports: [{port: 80}, {port: 81}]"},
		{"P04 port names go with the second port", "ports: [{port: 80}, {port: 81}]", "ports: [{port: 80}]"},
		{"port names follow the port", "ports: [{port: 80}, {port: 81}]", "ports: [{port: 80}, {port: 82}]"},
		{"target port follows the port", "ports: [{port: 80}]", "ports: [{port: 8080}]"},
		{"shutdown delay comes with ports", "{}", "ports: [{port: 80}]"},
		{"shutdown delay goes with ports", "ports: [{port: 80}]", "{}"},
		{"grace period follows the shutdown delay", "{ports: [{port: 80}], shutdownDelaySeconds: 0}", "{ports: [{port: 80}], shutdownDelaySeconds: 60}"},
		{"probe port follows the target port", "{ports: [{name: web, port: 80}], probes: {liveness: {tcpSocket: {port: web}}}}",
			"{ports: [{name: web, port: 80, targetPort: 8080}], probes: {liveness: {tcpSocket: {port: web}}}}"},
		{"profile follows back to Baseline", "securityProfile: Restricted", "{}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fresh, changed := myApp(t, c.after), applied(t, c.before, c.after)
			if diff := cmp.Diff(yamlOf(t, deployment(fresh)), yamlOf(t, deployment(changed))); diff != "" {
				t.Errorf("the Deployment keeps a default of the old spec (-fresh +changed):\n%s", diff)
			}
			if diff := cmp.Diff(yamlOf(t, service(fresh)), yamlOf(t, service(changed))); diff != "" {
				t.Errorf("the Service keeps a default of the old spec (-fresh +changed):\n%s", diff)
			}
			if cmp.Diff(yamlOf(t, intents(t, myApp(t, c.before))), yamlOf(t, intents(t, fresh))) == "" {
				t.Error("the case changes nothing")
			}
		})
	}
}

// applied is what `kubectl apply` makes of a second manifest after admission has defaulted and stored the first.
func applied(t *testing.T, before, after string) *v1beta1.MyApp {
	t.Helper()
	stored := myApp(t, before)
	manifest := func(spec string) []byte {
		raw, err := yaml.YAMLToJSON([]byte(spec))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(manifest(before), manifest(after), encode(t, stored.Spec))
	if err != nil {
		t.Fatal(err)
	}
	spec := parsed(t, string(encode(t, stored.Spec))).(map[string]any)
	merge(spec, parsed(t, string(patch)).(map[string]any))
	stored.Spec = v1beta1.MyAppSpec{}
	if err := json.Unmarshal(encode(t, spec), &stored.Spec); err != nil {
		t.Fatal(err)
	}
	return stored
}

// merge is a JSON merge patch.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		change, isMap := value.(map[string]any)
		old, wasMap := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isMap && wasMap:
			merge(old, change)
		default:
			into[key] = value
		}
	}
}

func TestDefaultProfileFollowsTheFlag(t *testing.T) {
	for flag, want := range map[v1beta1.SecurityProfile]v1beta1.SecurityProfile{
		"":                                v1beta1.SecurityProfileBaseline,
		v1beta1.SecurityProfileBaseline:   v1beta1.SecurityProfileBaseline,
		v1beta1.SecurityProfileRestricted: v1beta1.SecurityProfileRestricted,
	} {
		named := myApp(t, "securityProfile: "+string(want))
		got := Deployment(Input{App: myApp(t, ""), Options: Options{DefaultSecurityProfile: flag}}, nil)
		if diff := cmp.Diff(yamlOf(t, deployment(named)), yamlOf(t, got)); diff != "" {
			t.Errorf("--default-security-profile=%q is not as if the MyApp named %s (-want +got):\n%s", flag, want, diff)
		}
		opposite := Input{App: named, Options: Options{DefaultSecurityProfile: v1beta1.SecurityProfileRestricted}}
		if got := opposite.profile(); got != want {
			t.Errorf("the flag overrides the MyApp's own profile %s: %s", want, got)
		}
	}
}

func TestPullPolicy(t *testing.T) {
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	cases := []struct {
		name, image string
		given, want corev1.PullPolicy
	}{
		{"tag", "nginx:1.7.9", "", corev1.PullIfNotPresent},
		{"no tag", "nginx", "", corev1.PullAlways},
		{"latest", "nginx:latest", "", corev1.PullAlways},
		{"M01 registry with a port and no tag", "registry.example.com:5000/team/web", "", corev1.PullAlways},
		{"M01 registry with a port and a tag", "localhost:5000/web:1.2", "", corev1.PullIfNotPresent},
		{"M01 registry by IPv6 address", "[2001:db8::1]:5000/team/web:1.2", "", corev1.PullIfNotPresent},
		{"M01 registry by IPv6 address and no tag", "[2001:db8::1]:5000/team/web", "", corev1.PullAlways},
		{"M02 digest", "web" + digest, "", corev1.PullIfNotPresent},
		{"M02 tag and digest", "web:1.4" + digest, "", corev1.PullIfNotPresent},
		{"latest and digest", "web:latest" + digest, "", corev1.PullIfNotPresent},
		{"M04 upper case tag", "registry.example.com/team/web:RC1", "", corev1.PullIfNotPresent},
		{"no reference at all", "///", "", corev1.PullIfNotPresent},
		{"given", "nginx", corev1.PullNever, corev1.PullNever},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			app := myApp(t, "")
			app.Spec.Image, app.Spec.ImagePullPolicy = c.image, c.given
			got := containerOf(app)
			if *got.ImagePullPolicy != c.want {
				t.Errorf("%s is pulled %s, want %s", c.image, *got.ImagePullPolicy, c.want)
			}
			if *got.Image != c.image {
				t.Errorf("image %s becomes %s; it must pass byte for byte", c.image, *got.Image)
			}
		})
	}
}

func TestShutdown(t *testing.T) {
	cases := []struct {
		name, spec   string
		delay, grace int64
	}{
		{"no ports", "{}", 0, 30},
		{"ports", "ports: [{port: 80}]", 5, 35},
		{"no delay", "{ports: [{port: 80}], shutdownDelaySeconds: 0}", 0, 30},
		{"delay without ports", "shutdownDelaySeconds: 20", 20, 50},
		{"no grace", "{ports: [{port: 80}], terminationGracePeriodSeconds: 0}", 5, 5},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			app := myApp(t, c.spec)
			if got := *pod(app).TerminationGracePeriodSeconds; got != c.grace {
				t.Errorf("the pods have %d s to end, want %d s", got, c.grace)
			}
			var delay int64
			if l := containerOf(app).Lifecycle; l != nil {
				delay = *l.PreStop.Sleep.Seconds
			}
			if delay != c.delay {
				t.Errorf("the pods go on serving for %d s, want %d s", delay, c.delay)
			}
		})
	}
}

func TestSize(t *testing.T) {
	cases := []struct {
		name         string
		size         *int32
		replicas     int32
		minAvailable int32
	}{
		{"Z01 unset is 1", nil, 1, 1},
		{"Z01 zero is zero", ptr[int32](0), 0, 0},
		{"many, one of which may be away", ptr[int32](5), 5, 4},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			app := &v1beta1.MyApp{Spec: v1beta1.MyAppSpec{Size: c.size}}
			if got := *Deployment(Input{App: app}, nil).Spec.Replicas; got != c.replicas {
				t.Errorf("replicas: %d, want %d", got, c.replicas)
			}
			if got := (Input{App: app}).MinAvailable(c.replicas); got != c.minAvailable {
				t.Errorf("MinAvailable: %d, want %d", got, c.minAvailable)
			}
		})
	}
}

func TestProbePorts(t *testing.T) {
	app := myApp(t, `
ports: [{port: 1}, {name: web, port: 80, targetPort: 8080}, {name: admin, port: 9000, targetPort: 9001}]
probes:
  liveness: {httpGet: {port: web}}
  readiness: {tcpSocket: {port: admin}}
  startup: {httpGet: {port: 1234}}`)
	c := containerOf(app)
	got := []intstr.IntOrString{*c.LivenessProbe.HTTPGet.Port, *c.ReadinessProbe.TCPSocket.Port, *c.StartupProbe.HTTPGet.Port}
	want := []intstr.IntOrString{intstr.FromInt32(8080), intstr.FromInt32(9001), intstr.FromInt32(1234)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the probes ask other ports than those behind the Service (-want +got):\n%s", diff)
	}
}
