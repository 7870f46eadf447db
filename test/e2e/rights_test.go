//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/test/cluster"
)

// exceptions are the rights that no request of these suites shows, and why they are needed all the same. Each names the
// test that does not pass without it.
var exceptions = []struct{ right, reason, test string }{
	{"create *", "an apply of an object that does not exist yet is sent as a patch and needs both rights",
		"test/apiserver: C06 the shipped role is enough for every kind of child"},
	{"list *", "a server that cannot list by watching, Kubernetes before 1.34 by default, is asked for lists",
		"make test K8S_VERSION=1.30.14"},
	{"get *", "an object of somebody else that is in the way is looked at",
		"test/apiserver: C03 leaves a foreign Service alone"},
	{"update myapps/finalizers", "owner references under the admission plugin OwnerReferencesPermissionEnforcement",
		"test/apiserver: C06 the shipped role is enough for every kind of child"},
	{"patch events", "an event that repeats is counted on, not sent again", "test/controlplane: trouble"},
}

// rightsSpecs: what the operator was granted is what it was seen to use, and the exceptions. It comes last.
func rightsSpecs() {
	It("holds no right that it does not use", func(ctx SpecContext) {
		if !world.own {
			Skip("a cluster that was given has no audit log to read")
		}
		used := world.usedRights(ctx)
		var unused []string
		for _, right := range grantedRights() {
			verb, resource, _ := strings.Cut(right, " ")
			excepted := slices.ContainsFunc(exceptions, func(e struct{ right, reason, test string }) bool {
				return e.right == right || e.right == verb+" *" && !slices.Contains([]string{"events", "leases"}, resource)
			})
			if !used[right] && !excepted {
				unused = append(unused, right)
			}
		}
		Expect(unused).To(BeEmpty())
		for _, e := range exceptions {
			if !strings.HasSuffix(e.right, "*") {
				Expect(used).NotTo(HaveKey(e.right), "it needs no exception: %s", e.reason)
			}
		}
	})
}

// usedRights are the requests of the operator, in whatever namespace it ran, as "verb resource".
func (s *site) usedRights(ctx context.Context) map[string]bool {
	GinkgoHelper()
	events, err := s.AuditEvents(ctx, cluster.Mark{}, func(e cluster.Event) bool {
		return strings.HasPrefix(e.User, "system:serviceaccount:") && strings.HasSuffix(e.User, ":"+operatorName) && e.Resource != ""
	})
	Expect(err).NotTo(HaveOccurred())
	used := map[string]bool{}
	for _, e := range events {
		used[e.Target()] = true
	}
	Expect(used).NotTo(BeEmpty())
	return used
}

// grantedRights are those of config/rbac that are bound to the operator.
func grantedRights() []string {
	GinkgoHelper()
	var rights []string
	for _, file := range []string{"role.yaml", "leader_election_role.yaml", "metrics_auth_role.yaml"} {
		data, err := os.ReadFile(filepath.Join(world.root, "config", "rbac", file))
		Expect(err).NotTo(HaveOccurred())
		var role rbacv1.ClusterRole
		Expect(yaml.Unmarshal(bytes.TrimPrefix(data, []byte("---\n")), &role)).To(Succeed())
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights = append(rights, verb+" "+resource)
				}
			}
		}
	}
	Expect(rights).NotTo(BeEmpty())
	return rights
}
