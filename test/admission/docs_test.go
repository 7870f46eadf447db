package admission

import (
	"context"
	"os"
	"path/filepath"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ydzs.io/myapp-operator/test/cluster"
)

// block is one piece of YAML in a document for people.
type block struct{ file, text string }

var fence = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

func blocks() []block {
	GinkgoHelper()
	root, err := cluster.Root()
	Expect(err).NotTo(HaveOccurred())
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	Expect(err).NotTo(HaveOccurred())
	var all []block
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
			all = append(all, block{filepath.Base(file), m[1]})
		}
	}
	return all
}

var _ = Describe("The documents", func() {
	It("hold YAML that is accepted", func(ctx context.Context) {
		all := blocks()
		Expect(len(all)).To(BeNumerically(">=", 3), "the blocks are not found")
		// Of the guide to the installation.
		Expect(plane.InstallOLMCRDs(ctx)).To(Succeed())
		for _, ns := range []string{cluster.OLMNamespace, "myapp-operator-system"} {
			Expect(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})).To(Succeed())
		}
		for _, b := range all {
			out, err := plane.KubectlStdin(ctx, b.text, "apply", "-f", "-")
			Expect(err).NotTo(HaveOccurred(), "%s: %s\n%s", b.file, out, b.text)
			out, err = plane.KubectlStdin(ctx, b.text, "delete", "--wait=false", "-f", "-")
			Expect(err).NotTo(HaveOccurred(), out)
		}
	})
})
