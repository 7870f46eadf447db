package webhooks

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func FuzzMutatePatch(f *testing.F) {
	for _, c := range rawCases {
		f.Add(toJSON(f, c.raw), c.op == admissionv1.Update)
	}
	m := newMutator(f)
	f.Fuzz(func(t *testing.T, data []byte, update bool) {
		// An API server sends what it has decoded and encoded itself: no key twice.
		var sent any
		if json.Unmarshal(data, &sent) != nil {
			t.Skip()
		}
		op := admissionv1.Create
		if update {
			op = admissionv1.Update
		}
		checkPatch(t, m, op, encode(t, sent))
	})
}

func FuzzValidate(f *testing.F) {
	for _, spec := range []string{
		`{}`, `{size: 0}`,
		`{image: "Team/web:1", envs: [{name: A}, {name: A}, {name: "B="}], ports: [{port: 80}, {port: 80}, {name: tcp-80, port: 81}]}`,
		`{service: {type: ClusterIP, annotations: {a: b}}, ports: [{name: a, port: 80, nodePort: 1}, {name: a, port: 80, targetPort: "1"}]}`,
		`{resources: {limits: {memory: 1m, hugepages-2Mi: 1}, requests: {memory: 1e10, cpu: -1, example.com/a: 1}}}`,
		`{probes: {liveness: {httpGet: {port: a, host: b}}, readiness: {exec: {}, grpc: {port: 0}}}}`,
		`{securityProfile: Restricted, securityContext: {capabilities: {add: [ALL], drop: []}, runAsUser: 0}, podSecurityContext: {sysctls: [{}]}}`,
		`{imagePullSecrets: [{}, {}], podLabels: {a: b}, podAnnotations: {app.ydzs.io/x: y}, serviceAccountName: A}`,
		`{mounts: [{}, {path: /a/../b, subPath: ../c, configMap: {items: [{}, {path: ..a}]}, secret: {}, emptyDir: {sizeLimit: -1}, persistentVolumeClaim: {}}, {path: /a}, {path: /a/}]}`,
		`{ports: [{port: 80}], ingress: {host: "*", path: a, port: 1, annotations: {a: b}, tls: {issuerRef: {}}}, metrics: {port: 1, path: a, interval: 0s}}`,
		`{autoscaling: {minReplicas: 2, behavior: {scaleUp: {policies: [{}], tolerance: -1}, scaleDown: {policies: []}}}, podDisruptionBudget: {minAvailable: 1%, maxUnavailable: a, disabled: true}}`,
		`{rollout: {type: Recreate, maxSurge: 0, maxUnavailable: 0%}, scheduling: {nodeSelector: {a b: c d}, tolerations: [{}, {operator: Lt}], topologySpreadConstraints: [{}, {minDomains: 0, matchLabelKeys: [a, a]}]}}`,
		`{scheduling: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{}], matchExpressions: [{operator: Gt}]}]}}, podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{matchLabelKeys: [a], mismatchLabelKeys: [a], namespaces: []}]}}}}`,
		`{envs: [{name: A, valueFrom: {fieldRef: {fieldPath: a}, resourceFieldRef: {resource: b, divisor: 3}}}], envFrom: [{}]}`,
	} {
		f.Add(toJSON(f, spec), toJSON(f, `{}`))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		old, app := &v1beta1.MyApp{}, &v1beta1.MyApp{}
		if json.Unmarshal(before, &old.Spec) != nil || json.Unmarshal(after, &app.Spec) != nil {
			t.Skip()
		}
		opts := Options{ServiceAnnotationPrefixes: []string{"a"}, IngressAnnotationPrefixes: []string{"a"}, DisabledChildren: []string{"servicemonitor"}}
		_ = warnings(app)
		_, _ = validateUpdate(old, app, opts)
		checkProblems(t, validate(app, opts))
		checkRatchet(t, app, opts)
	})
}

var indexInText = regexp.MustCompile(`spec\.\w+\[\d+\]`)

func checkProblems(t *testing.T, errs field.ErrorList) {
	t.Helper()
	for _, e := range errs {
		if !strings.HasPrefix(e.Field, "spec.") || e.Detail == "" || e.ErrorBody() == "" {
			t.Errorf("%v has no path or says nothing", e)
		}
		if indexInText.MatchString(e.Detail) && !strings.Contains(e.Detail, "no image reference") {
			t.Errorf("%v names an index in its detail, which changes when entries are reordered", e)
		}
	}
}

// checkRatchet: neither no change nor another order of entries brings a problem in.
func checkRatchet(t *testing.T, app *v1beta1.MyApp, opts Options) {
	t.Helper()
	turned := app.DeepCopy()
	slices.Reverse(turned.Spec.Ports)
	slices.Reverse(turned.Spec.Envs)
	slices.Reverse(turned.Spec.EnvFrom)
	slices.Reverse(turned.Spec.ImagePullSecrets)
	slices.Reverse(turned.Spec.Mounts)
	if s := turned.Spec.Scheduling; s != nil {
		slices.Reverse(s.Tolerations)
		slices.Reverse(s.TopologySpreadConstraints)
	}
	for _, next := range []*v1beta1.MyApp{app, turned} {
		if introduced, _ := validateUpdate(app, next, opts); len(introduced) > 0 {
			t.Errorf("nothing new, but %v", introduced)
		}
	}
}
