package desired

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// This file knows which data the pods take from ConfigMaps and Secrets, and turns it into what restarts them: an
// annotation of the pod template that changes with the data. Beside it, on the Deployment itself, stands which versions
// the data was read from, so that neither a label that somebody edits nor a restart of the operator has a consequence.

// Kinds of objects that hold configuration.
const (
	KindConfigMap = "ConfigMap"
	KindSecret    = "Secret"
)

// ConfigRef is a ConfigMap or Secret of the MyApp's namespace that the pods take data from.
type ConfigRef struct {
	Kind, Name string
	// Keys are those that count, sorted; nil for all.
	Keys []string
}

// ID names the object among the ones that a MyApp refers to.
func (r ConfigRef) ID() string { return r.Kind + "/" + r.Name }

// Hash is a fingerprint of the data that counts.
func (r ConfigRef) Hash(data map[string][]byte) string {
	kept := maps.Clone(data)
	if r.Keys != nil {
		maps.DeleteFunc(kept, func(key string, _ []byte) bool { return !slices.Contains(r.Keys, key) })
	}
	return digest(kept)
}

// Scope is a fingerprint of what counts of the object.
func (r ConfigRef) Scope() string { return digest(r.Keys) }

// ConfigVersion is what was last read of an object.
type ConfigVersion struct {
	// Version is the resourceVersion; empty when the object was missing.
	Version string `json:"version,omitempty"`
	// Scope is that of the reference, Hash the fingerprint of the data.
	Scope string `json:"scope"`
	Hash  string `json:"hash"`
}

// ConfigVersions are what was last read of each object, by the reference's ID.
type ConfigVersions map[string]ConfigVersion

// ConfigRefs are the objects whose data restarts the pods, sorted; none unless the MyApp asks for it. Secrets are left out
// where the operator may not watch them.
func (in Input) ConfigRefs() []ConfigRef {
	spec := in.App.Spec
	if spec.Rollout == nil || !spec.Rollout.RestartOnConfigChange {
		return nil
	}
	refs := refSet{}
	refs.addEnvs(spec)
	for _, m := range spec.Mounts {
		refs.addFiles(KindConfigMap, m.ConfigMap, m.SubPath)
		refs.addFiles(KindSecret, m.Secret, m.SubPath)
	}
	var all []ConfigRef
	for _, r := range refs {
		if r.Kind == KindConfigMap || in.RestartOnSecretChange {
			slices.Sort(r.Keys)
			r.Keys = slices.Compact(r.Keys)
			all = append(all, *r)
		}
	}
	slices.SortFunc(all, func(a, b ConfigRef) int { return cmp.Compare(a.ID(), b.ID()) })
	return all
}

// refSet gathers references by ID. An object that is taken whole once counts whole.
type refSet map[string]*ConfigRef

func (s refSet) addEnvs(spec v1beta1.MyAppSpec) {
	for _, e := range spec.Envs {
		if e.ValueFrom == nil {
			continue
		}
		if k := e.ValueFrom.ConfigMapKeyRef; k != nil {
			s.add(KindConfigMap, k.Name, k.Key)
		}
		if k := e.ValueFrom.SecretKeyRef; k != nil {
			s.add(KindSecret, k.Name, k.Key)
		}
	}
	for _, e := range spec.EnvFrom {
		if e.ConfigMapRef != nil {
			s.add(KindConfigMap, e.ConfigMapRef.Name)
		}
		if e.SecretRef != nil {
			s.add(KindSecret, e.SecretRef.Name)
		}
	}
}

func (s refSet) addFiles(kind string, files *v1beta1.FileSource, subPath string) {
	switch {
	case files == nil:
	case len(files.Items) > 0:
		for _, i := range files.Items {
			s.add(kind, files.Name, i.Key)
		}
	case subPath != "":
		s.add(kind, files.Name, subPath)
	default:
		s.add(kind, files.Name)
	}
}

// add notes keys of an object; none for all.
func (s refSet) add(kind, name string, keys ...string) {
	ref := ConfigRef{Kind: kind, Name: name, Keys: keys}
	known := s[ref.ID()]
	switch {
	case known == nil:
		s[ref.ID()] = &ref
	case keys == nil:
		known.Keys = nil
	case known.Keys != nil:
		known.Keys = append(known.Keys, keys...)
	}
}

// RecordedConfig reads back what the Deployment says about the versions behind its pods.
func RecordedConfig(annotations map[string]string) ConfigVersions {
	var all ConfigVersions
	// What somebody has spoiled counts as never read.
	_ = json.Unmarshal([]byte(annotations[v1beta1.AnnotationConfigVersions]), &all)
	return all
}

// configAnnotations are those of the Deployment and of its pods; nil when nothing restarts the pods.
func (in Input) configAnnotations() (deployment, pods map[string]string) {
	if len(in.Config) == 0 {
		return nil, nil
	}
	hashes := map[string]string{}
	for id, v := range in.Config {
		hashes[id] = v.Hash
	}
	// Maps marshal sorted, and strings always marshal.
	raw, _ := json.Marshal(in.Config)
	return map[string]string{v1beta1.AnnotationConfigVersions: string(raw)},
		map[string]string{v1beta1.AnnotationConfigHash: digest(hashes)}
}

// DataOf is the data of a ConfigMap or Secret; nil of anything else.
func DataOf(object any) map[string][]byte {
	switch o := object.(type) {
	case *corev1.Secret:
		return o.Data
	case *corev1.ConfigMap:
		data := maps.Clone(o.BinaryData)
		if data == nil {
			data = map[string][]byte{}
		}
		for key, value := range o.Data {
			data[key] = []byte(value)
		}
		return data
	default:
		return nil
	}
}
