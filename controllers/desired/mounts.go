package desired

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// Volumes and their mounts, both from spec.mounts and from the security profile. They are sorted, since the order of
// mounts has no meaning and must not restart pods. Mounts of the same source share a volume.

const tmpVolume, tmpPath = "tmp", "/tmp"

// defaultFileMode is Kubernetes' own default, written out since a volume source is applied as a whole.
const defaultFileMode int32 = 0o644

func volumes(in Input) []*corev1ac.VolumeApplyConfiguration {
	var all []*corev1ac.VolumeApplyConfiguration
	for _, m := range distinctVolumes(in.App.Spec) {
		all = append(all, volume(m))
	}
	if needsTmp(in) {
		all = append(all, corev1ac.Volume().WithName(tmpVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()))
	}
	return all
}

func volumeMounts(in Input) []*corev1ac.VolumeMountApplyConfiguration {
	mounts := sortedMounts(in.App.Spec)
	var all []*corev1ac.VolumeMountApplyConfiguration
	for _, i := range firsts(mounts, mountPath) {
		m := mounts[i]
		mount := corev1ac.VolumeMount().WithName(volumeName(m)).WithMountPath(m.Path)
		mount.SubPath, mount.ReadOnly = ptrTo(m.SubPath), ptrTo(m.ReadOnly)
		all = append(all, mount)
	}
	if needsTmp(in) {
		all = append(all, corev1ac.VolumeMount().WithName(tmpVolume).WithMountPath(tmpPath))
	}
	return all
}

// needsTmp tells whether the read-only root of Restricted needs a writable /tmp.
func needsTmp(in Input) bool {
	own := func(m v1beta1.Mount) bool { return path.Clean(m.Path) == tmpPath }
	return in.restricted() && !slices.ContainsFunc(in.App.Spec.Mounts, own)
}

func sortedMounts(spec v1beta1.MyAppSpec) []v1beta1.Mount {
	return slices.SortedStableFunc(slices.Values(spec.Mounts), func(a, b v1beta1.Mount) int { return cmp.Compare(a.Path, b.Path) })
}

// distinctVolumes is the first mount of each volume, sorted by the volume's name.
func distinctVolumes(spec v1beta1.MyAppSpec) []v1beta1.Mount {
	mounts := sortedMounts(spec)
	var all []v1beta1.Mount
	for _, i := range firsts(mounts, volumeName) {
		all = append(all, mounts[i])
	}
	slices.SortFunc(all, func(a, b v1beta1.Mount) int { return cmp.Compare(volumeName(a), volumeName(b)) })
	return all
}

func mountPath(m v1beta1.Mount) string { return m.Path }

// volumeName follows from the source alone, so that a mount that comes or goes renames no other volume. Empty directories
// have nothing but their path.
func volumeName(m v1beta1.Mount) string {
	source := m
	source.Path, source.SubPath, source.ReadOnly = "", "", false
	kind := "file"
	switch {
	case m.ConfigMap != nil:
		kind = "configmap"
	case m.Secret != nil:
		kind = "secret"
	case m.EmptyDir != nil:
		kind, source.Path = "emptydir", path.Clean(m.Path)
	case m.PersistentVolumeClaim != nil:
		kind = "claim"
	}
	return kind + "-" + digest(source)
}

func volume(m v1beta1.Mount) *corev1ac.VolumeApplyConfiguration {
	v := corev1ac.Volume().WithName(volumeName(m))
	switch {
	case m.ConfigMap != nil:
		source := corev1ac.ConfigMapVolumeSource().WithName(m.ConfigMap.Name).WithItems(items(m.ConfigMap)...)
		source.Optional = ptrTo(m.ConfigMap.Optional)
		v.WithConfigMap(source.WithDefaultMode(fileMode(m.ConfigMap)))
	case m.Secret != nil:
		source := corev1ac.SecretVolumeSource().WithSecretName(m.Secret.Name).WithItems(items(m.Secret)...)
		source.Optional = ptrTo(m.Secret.Optional)
		v.WithSecret(source.WithDefaultMode(fileMode(m.Secret)))
	case m.EmptyDir != nil:
		source := corev1ac.EmptyDirVolumeSource()
		source.Medium, source.SizeLimit = ptrTo(m.EmptyDir.Medium), m.EmptyDir.SizeLimit
		v.WithEmptyDir(source)
	case m.PersistentVolumeClaim != nil:
		v.WithPersistentVolumeClaim(corev1ac.PersistentVolumeClaimVolumeSource().WithClaimName(m.PersistentVolumeClaim.ClaimName))
	}
	return v
}

func fileMode(s *v1beta1.FileSource) int32 {
	if s.DefaultMode != nil {
		return *s.DefaultMode
	}
	return defaultFileMode
}

func items(s *v1beta1.FileSource) []*corev1ac.KeyToPathApplyConfiguration {
	var all []*corev1ac.KeyToPathApplyConfiguration
	for _, i := range firsts(s.Items, func(i corev1.KeyToPath) string { return i.Path }) {
		all = append(all, convert[corev1ac.KeyToPathApplyConfiguration](s.Items[i]))
	}
	return all
}

// digest is a short fingerprint of a value that marshals to JSON.
func digest(v any) string {
	// What came out of a decoded MyApp marshals.
	raw, _ := json.Marshal(v)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])[:10]
}
