package admission

import (
	"context"
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// filled is a spec that leaves the mutating webhook nothing to do.
const filled = "size: 1\n  deletionPolicy: Delete\n  terminationGracePeriodSeconds: 30\n  "

var _ = Describe("A scalar", func() {
	DescribeTable("that is bare where text belongs is refused with its path, whether or not there are defaults to set",
		func(ctx context.Context, line, field string) {
			for _, more := range []string{"", filled} {
				err := admin.Create(ctx, parse(with(more+line)), client.DryRunAll)
				Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
				var status apierrors.APIStatus
				Expect(errors.As(err, &status)).To(BeTrue())
				Expect(status.Status().Details.Causes).To(ContainElement(HaveField("Field", field)))
			}
		},
		Entry("E08 a number", "envs: [{name: PORT, value: 8080}]", "spec.envs[0].value"),
		Entry("E08 a boolean", "envs: [{name: OK, value: '1'}, {name: DEBUG, value: true}]", "spec.envs[1].value"),
		Entry("E08 a fraction", "envs: [{name: VER, value: 1.10}]", "spec.envs[0].value"),
		Entry("E08 a number as an argument", "args: [8080]", "spec.args[0]"),
		Entry("E08 a boolean as a label", "podLabels: {canary: true}", "spec.podLabels.canary"),
		Entry("E08 a number as an annotation", "podAnnotations: {port: 8080}", "spec.podAnnotations.port"),
		Entry("Q06 a fraction of a CPU", "resources: {requests: {cpu: 0.5}}", "spec.resources.requests.cpu"),
	)

	const digest = "registry.example.com/team/web:1.4@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	DescribeTable("is stored as it was written", func(ctx context.Context, document string, want any, path ...string) {
		app := parse(document)
		Expect(admin.Create(ctx, app, client.DryRunAll)).To(Succeed())
		got, _, err := unstructured.NestedFieldNoCopy(app.Object, path...)
		Expect(err).NotTo(HaveOccurred())
		Expect(got).To(Equal(want))
	},
		Entry("E08 quoted", with("envs: [{name: PORT, value: '8080'}, {name: VER, value: '1.10'}]"),
			[]any{map[string]any{"name": "PORT", "value": "8080"}, map[string]any{"name": "VER", "value": "1.10"}}, "spec", "envs"),
		Entry("Q06 a whole CPU", with("resources: {requests: {cpu: 1}}"), int64(1), "spec", "resources", "requests", "cpu"),
		Entry("Q06 a quoted fraction", with("resources: {requests: {cpu: '0.5'}}"), "0.5", "spec", "resources", "requests", "cpu"),
		Entry("Q06 a quoted fraction, nothing to default", with(filled+"resources: {requests: {cpu: '0.5'}}"), "0.5", "spec", "resources", "requests", "cpu"),
		Entry("Z01 size 0", with("size: 0"), int64(0), "spec", "size"),
		Entry("M02 an image", "spec: {image: '"+digest+"'}", digest, "spec", "image"),
	)

	It("O01 of a port may be left out under server-side apply, which finds the same the second time", func(ctx SpecContext) {
		const manifest = `
apiVersion: app.ydzs.io/v1beta1
kind: MyApp
metadata: {name: dns, namespace: default}
spec:
  image: nginx:1.27
  ports: [{name: tcp, port: 53}, {name: udp, port: 53, protocol: UDP}]
`
		app := parse("metadata: {name: dns}")
		DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(admin.Delete(ctx, app))).To(Succeed()) })
		var versions [2]string
		for i := range versions {
			out, err := plane.KubectlStdin(ctx, manifest, "apply", "--server-side", "-f", "-")
			Expect(err).NotTo(HaveOccurred(), out)
			Expect(admin.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
			versions[i] = app.GetResourceVersion()
		}
		Expect(versions[1]).To(Equal(versions[0]))
		ports, _, err := unstructured.NestedSlice(app.Object, "spec", "ports")
		Expect(err).NotTo(HaveOccurred())
		Expect(ports).To(Equal([]any{
			map[string]any{"name": "tcp", "port": int64(53)},
			map[string]any{"name": "udp", "port": int64(53), "protocol": "UDP"},
		}), "something was filled in inside an element")
	})
})
