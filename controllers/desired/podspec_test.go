package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func TestOrderOfMountsRestartsNothing(t *testing.T) {
	const one, two, three = "{path: /a, configMap: {name: x}}", "{path: /b, subPath: k, configMap: {name: x}}", "{path: /c, emptyDir: {}}"
	want := yamlOf(t, deployment(myApp(t, "mounts: ["+one+", "+two+", "+three+"]")))
	got := yamlOf(t, deployment(myApp(t, "mounts: ["+three+", "+two+", "+one+"]")))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the pods restart for the order of mounts (-before +after):\n%s", diff)
	}
}

func TestMountsOfOneSourceShareAVolume(t *testing.T) {
	p := pod(myApp(t, `mounts: [
		{path: /a, configMap: {name: x}}, {path: /b, subPath: k, readOnly: true, configMap: {name: x}}, {path: /c, configMap: {name: x, optional: true}},
		{path: /d, emptyDir: {}}, {path: /e, emptyDir: {}}]`))
	if len(p.Volumes) != 4 {
		t.Errorf("%d volumes, want 4: one for both mounts of x, one for x as an option, and one for each empty directory", len(p.Volumes))
	}
	for _, v := range p.Volumes {
		if errs := validation.IsDNS1123Label(*v.Name); len(errs) > 0 {
			t.Errorf("the API server refuses the volume %s: %v", *v.Name, errs)
		}
	}
}

func TestRestrictedHasOneWritableTmp(t *testing.T) {
	for name, c := range map[string]struct{ spec, want string }{
		"its own":       {"securityProfile: Restricted", tmpVolume},
		"the MyApp's":   {"{securityProfile: Restricted, mounts: [{path: /tmp/, emptyDir: {sizeLimit: 1Gi}}]}", "emptydir-"},
		"none":          {"{}", ""},
		"none for that": {"mounts: [{path: /tmpfiles, emptyDir: {}}]", "emptydir-"},
	} {
		t.Run(name, func(t *testing.T) {
			got := pod(myApp(t, c.spec)).Volumes
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || (*got[0].Name)[:min(len(c.want), len(*got[0].Name))] != c.want) {
				t.Errorf("volumes: %s, want one called %s…", yamlOf(t, got), c.want)
			}
		})
	}
}

func TestSpread(t *testing.T) {
	own := map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/managed-by": "myapp-operator"}
	type constraint struct {
		key, action string
		skew        int32
		selector    map[string]string
		versions    []string
	}
	perVersion := []string{"pod-template-hash"}
	for name, c := range map[string]struct {
		spec string
		want []constraint
	}{
		"by default": {"{}", []constraint{
			{corev1.LabelTopologyZone, "ScheduleAnyway", 1, own, perVersion}, {corev1.LabelHostname, "ScheduleAnyway", 1, own, perVersion}}},
		"its own, without a selector": {"scheduling: {topologySpreadConstraints: [{topologyKey: rack, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]}",
			[]constraint{{"rack", "DoNotSchedule", 2, own, perVersion}}},
		"its own, with one": {"scheduling: {topologySpreadConstraints: [{topologyKey: rack, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]}",
			[]constraint{{"rack", "DoNotSchedule", 1, map[string]string{"a": "b"}, nil}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []constraint
			for _, s := range pod(myApp(t, c.spec)).TopologySpreadConstraints {
				got = append(got, constraint{*s.TopologyKey, string(*s.WhenUnsatisfiable), *s.MaxSkew, s.LabelSelector.MatchLabels, s.MatchLabelKeys})
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(constraint{})); diff != "" {
				t.Errorf("spread (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRolloutNeverStandsStill(t *testing.T) {
	for name, c := range map[string]struct{ spec, unavailable, surge string }{
		"default":            {"{}", "0", "25%"},
		"no surge":           {"rollout: {maxSurge: 0}", "1", "0"},
		"no surge, in words": {"rollout: {maxSurge: 0%}", "1", "0%"},
		"a surge":            {"rollout: {maxSurge: 1}", "0", "1"},
		"both":               {"rollout: {maxSurge: 2, maxUnavailable: 10%}", "10%", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			u := deployment(myApp(t, c.spec)).Spec.Strategy.RollingUpdate
			if u.MaxUnavailable.String() != c.unavailable || u.MaxSurge.String() != c.surge {
				t.Errorf("maxUnavailable %s and maxSurge %s, want %s and %s", u.MaxUnavailable, u.MaxSurge, c.unavailable, c.surge)
			}
		})
	}
	if s := deployment(myApp(t, "rollout: {type: Recreate}")).Spec.Strategy; s.RollingUpdate != nil || *s.Type != "Recreate" {
		t.Errorf("strategy of Recreate: %s", yamlOf(t, s))
	}
}

func TestConfigRefs(t *testing.T) {
	const refs = `
envs: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: k2}}}, {name: B, valueFrom: {configMapKeyRef: {name: c, key: k1}}},
  {name: C, valueFrom: {secretKeyRef: {name: s, key: p}}}, {name: D, value: plain}]
envFrom: [{configMapRef: {name: whole}}]
mounts: [{path: /a, configMap: {name: whole, items: [{key: one, path: one}]}}, {path: /b, subPath: f, configMap: {name: files}}, {path: /c, secret: {name: t}}, {path: /d, emptyDir: {}}]
rollout: {restartOnConfigChange: `
	configMaps := []ConfigRef{{"ConfigMap", "c", []string{"k1", "k2"}}, {"ConfigMap", "files", []string{"f"}}, {"ConfigMap", "whole", nil}}
	secrets := []ConfigRef{{"Secret", "s", []string{"p"}}, {"Secret", "t", nil}}
	for name, c := range map[string]struct {
		asks    string
		secrets bool
		want    []ConfigRef
	}{
		"not asked for": {"false}", true, nil},
		"ConfigMaps":    {"true}", false, configMaps},
		"Secrets too":   {"true}", true, append(configMaps, secrets...)},
	} {
		t.Run(name, func(t *testing.T) {
			got := Input{App: myApp(t, refs+c.asks), Options: Options{RestartOnSecretChange: c.secrets}}.ConfigRefs()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("what restarts the pods (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfigHash(t *testing.T) {
	data := map[string][]byte{"a": []byte("1"), "b": []byte("2")}
	ref := ConfigRef{Kind: KindConfigMap, Name: "c", Keys: []string{"a"}}
	before := ref.Hash(data)
	data["b"] = []byte("3")
	if ref.Hash(data) != before {
		t.Error("a key that nobody refers to restarts the pods")
	}
	if data["a"] = []byte("2"); ref.Hash(data) == before {
		t.Error("a key that is referred to restarts nothing")
	}
	whole := ConfigRef{Kind: KindConfigMap, Name: "c"}
	if whole.Scope() == ref.Scope() || len(data) != 2 {
		t.Error("a change of what counts is not seen, or hashing changes the data")
	}
}

func TestConfigAnnotations(t *testing.T) {
	in := Input{App: myApp(t, "rollout: {restartOnConfigChange: true}")}
	if d := Deployment(in, nil); d.Annotations != nil || d.Spec.Template.Annotations != nil {
		t.Error("a MyApp without configuration has annotations of it")
	}
	in.Config = ConfigVersions{"ConfigMap/c": {Version: "7", Scope: "s", Hash: "h"}}
	first := Deployment(in, nil)
	if diff := cmp.Diff(in.Config, RecordedConfig(first.Annotations)); diff != "" {
		t.Errorf("what is written down is read back as (-want +got):\n%s", diff)
	}
	in.Config = ConfigVersions{"ConfigMap/c": {Version: "8", Scope: "s", Hash: "h"}}
	if diff := cmp.Diff(first.Spec.Template, Deployment(in, nil).Spec.Template); diff != "" {
		t.Errorf("E06 another version of the same data restarts the pods (-before +after):\n%s", diff)
	}
	if RecordedConfig(map[string]string{v1beta1.AnnotationConfigVersions: "{spoiled"}) != nil {
		t.Error("what somebody spoiled counts as read")
	}
}
