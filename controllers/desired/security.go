package desired

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// The two profiles. Baseline takes nothing away that a stock image needs; Restricted is the Pod Security Standard
// "restricted" and a read-only root filesystem. A MyApp's own security contexts are laid over them field by field.

func podSecurityContext(in Input) *corev1ac.PodSecurityContextApplyConfiguration {
	sc := &corev1.PodSecurityContext{}
	if own := in.App.Spec.PodSecurityContext; own != nil {
		sc = own.DeepCopy()
	}
	if sc.SeccompProfile == nil {
		sc.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	if sc.RunAsNonRoot == nil && in.restricted() {
		sc.RunAsNonRoot = ptrTo(true)
	}
	return convert[corev1ac.PodSecurityContextApplyConfiguration](sc)
}

func securityContext(in Input) *corev1ac.SecurityContextApplyConfiguration {
	sc := &corev1.SecurityContext{}
	if own := in.App.Spec.SecurityContext; own != nil {
		sc = own.DeepCopy()
	}
	if sc.AllowPrivilegeEscalation == nil && !grantsPrivilege(sc) {
		no := false
		sc.AllowPrivilegeEscalation = &no
	}
	if in.restricted() {
		if sc.ReadOnlyRootFilesystem == nil {
			sc.ReadOnlyRootFilesystem = ptrTo(true)
		}
		if sc.Capabilities == nil {
			sc.Capabilities = &corev1.Capabilities{}
		}
		if sc.Capabilities.Drop == nil {
			sc.Capabilities.Drop = []corev1.Capability{"ALL"}
		}
	}
	return convert[corev1ac.SecurityContextApplyConfiguration](sc)
}

// grantsPrivilege tells whether the API server would refuse allowPrivilegeEscalation: false beside the context. Admission
// refuses such a context; one stored without admission is left to Pod Security, as in any Deployment.
func grantsPrivilege(sc *corev1.SecurityContext) bool {
	if sc.Privileged != nil && *sc.Privileged {
		return true
	}
	if sc.Capabilities == nil {
		return false
	}
	for _, c := range sc.Capabilities.Add {
		if c == "SYS_ADMIN" || c == "CAP_SYS_ADMIN" {
			return true
		}
	}
	return false
}

func (in Input) restricted() bool { return in.profile() == v1beta1.SecurityProfileRestricted }
