package admission

import (
	"context"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/test/cluster"
)

// samples are the manifests under config/samples.
func samples() []string {
	GinkgoHelper()
	root, err := cluster.Root()
	Expect(err).NotTo(HaveOccurred())
	all, err := filepath.Glob(filepath.Join(root, "config", "samples", "app_*.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(len(all)).To(BeNumerically(">=", 3))
	return all
}

// remove deletes the MyApp of a manifest; no operator is here to take a finalizer off.
func remove(ctx context.Context, file string) {
	GinkgoHelper()
	out, err := plane.Kubectl(ctx, "patch", "-f", file, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	Expect(err).NotTo(HaveOccurred(), out)
	out, err = plane.Kubectl(ctx, "delete", "-f", file)
	Expect(err).NotTo(HaveOccurred(), out)
}

var _ = Describe("kubectl", func() {
	It("explains the fields, and scales", func(ctx SpecContext) {
		// The server publishes the schema a moment after the CRD.
		Eventually(func() (string, error) { return plane.Kubectl(ctx, "explain", "myapp.spec.ports") }).
			WithTimeout(30 * time.Second).WithPolling(time.Second).Should(ContainSubstring("ports are the ports of the Service"))
		app := parse("metadata: {name: scaled}\nspec: {image: nginx:1.27}")
		Expect(admin.Create(ctx, app)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(admin.Delete(ctx, app)).To(Succeed()) })
		out, err := plane.Kubectl(ctx, "scale", "myapp/scaled", "--replicas=0")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
		size, _, _ := unstructured.NestedInt64(app.Object, "spec", "size")
		Expect(size).To(BeZero())
		out, err = plane.Kubectl(ctx, "scale", "myapp/scaled", "--replicas=5001")
		Expect(err).To(HaveOccurred(), out)
	})

	It("finds every sample unchanged the second time and sends no write", func(ctx SpecContext) {
		for _, sample := range samples() {
			out, err := plane.Kubectl(ctx, "apply", "-f", sample)
			Expect(err).NotTo(HaveOccurred(), out)
			mark, err := plane.Mark(ctx)
			Expect(err).NotTo(HaveOccurred())
			out, err = plane.Kubectl(ctx, "apply", "-f", sample)
			Expect(err).NotTo(HaveOccurred(), out)
			Expect(out).To(And(ContainSubstring("unchanged"), Not(ContainSubstring("configured"))), sample)
			counts, err := plane.Count(ctx, mark, "admin")
			Expect(err).NotTo(HaveOccurred())
			for request := range counts {
				Expect(request).To(HavePrefix("get "), "applying %s a second time sent a write", sample)
			}
			remove(ctx, sample)
		}
	})

	It("takes the examples that the bundle shows in a console", func(ctx SpecContext) {
		root, err := cluster.Root()
		Expect(err).NotTo(HaveOccurred())
		raw, err := os.ReadFile(filepath.Join(root, "bundle", "manifests", "myapp-operator.clusterserviceversion.yaml"))
		Expect(err).NotTo(HaveOccurred())
		csv := &metav1.PartialObjectMetadata{}
		Expect(yaml.Unmarshal(raw, csv)).To(Succeed())
		var examples []unstructured.Unstructured
		Expect(yaml.Unmarshal([]byte(csv.Annotations["alm-examples"]), &examples)).To(Succeed())
		Expect(examples).To(HaveLen(len(samples())))
		for _, example := range examples {
			example.SetNamespace("default")
			Expect(admin.Create(ctx, &example, client.DryRunAll)).To(Succeed(), example.GetName())
		}
	})

	It("leaves the resourceVersion when a sample is applied server-side a second time", func(ctx SpecContext) {
		for _, sample := range samples() {
			var versions [2]string
			for i := range versions {
				out, err := plane.Kubectl(ctx, "apply", "--server-side", "-f", sample)
				Expect(err).NotTo(HaveOccurred(), out)
				versions[i], err = plane.Kubectl(ctx, "get", "-f", sample, "-o", "jsonpath={..resourceVersion}")
				Expect(err).NotTo(HaveOccurred())
			}
			Expect(versions[0]).To(Equal(versions[1]), sample)
			remove(ctx, sample)
		}
	})
})
