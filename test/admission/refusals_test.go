package admission

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// parse reads a MyApp as a user writes it; nothing of it passes through the Go types. A document without metadata gets a
// name of its own.
func parse(document string) *unstructured.Unstructured {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(document), &object.Object)).To(Succeed())
	object.SetAPIVersion("app.ydzs.io/v1beta1")
	object.SetKind("MyApp")
	object.SetNamespace("default")
	if object.GetName() == "" {
		object.SetGenerateName("case-")
	}
	return object
}

// with is a small valid MyApp with one more line in its spec.
func with(line string) string { return "spec:\n  image: nginx:1.27\n  " + line + "\n" }

const web = "ports: [{name: web, port: 80}]"

// refused demands 422, a cause for the field and the words in what a user reads.
func refused(ctx context.Context, document, field, words string) {
	GinkgoHelper()
	err := admin.Create(ctx, parse(document), client.DryRunAll)
	Expect(err).To(HaveOccurred(), "it was accepted")
	var status apierrors.APIStatus
	Expect(errors.As(err, &status)).To(BeTrue())
	Expect(status.Status().Code).To(Equal(int32(http.StatusUnprocessableEntity)), err.Error())
	var fields []string
	for _, c := range status.Status().Details.Causes {
		fields = append(fields, c.Field)
	}
	Expect(fields).To(ContainElement(field), err.Error())
	Expect(strings.ToLower(err.Error())).To(ContainSubstring(words))
}

var _ = Describe("A bad MyApp", func() {
	DescribeTable("is refused with 422 and the path of its field", refused,
		Entry("no image", "spec: {size: 1}", "spec.image", "required"),
		Entry("no spec", "{}", "spec.image", "required"),
		Entry("empty image", "spec: {image: ''}", "spec.image", "at least 1"),
		Entry("malformed image", "spec: {image: 'nginx::1'}", "spec.image", "image"),
		Entry("image with a blank", "spec: {image: ' nginx'}", "spec.image", "image"),
		Entry("M02 short digest", "spec: {image: 'registry.example.com/team/web@sha256:0123abcd'}", "spec.image", "digest"),
		Entry("M02 unknown digest algorithm", "spec: {image: 'registry.example.com/team/web@md5:0123456789abcdef0123456789abcdef'}", "spec.image", "sha256"),
		Entry("M04 upper case in the repository", "spec: {image: 'registry.example.com/Team/web:1'}", "spec.image", "lower case"),
		Entry("M04 upper case in what looks like a host", "spec: {image: 'Team/web:1'}", "spec.image", "lower case"),
		Entry("Z01 negative size", with("size: -1"), "spec.size", "greater than or equal to 0"),
		Entry("absurd size", with("size: 1000000"), "spec.size", "5000"),
		Entry("size that is no number", with("size: two"), "spec.size", "integer"),
		Entry("size with a fraction", with("size: 1.5"), "spec.size", "integer"),
		Entry("P02 the same port twice, TCP implied", with("ports: [{name: a, port: 80, targetPort: 8080}, {name: b, port: 80, protocol: TCP, targetPort: 8081}]"), "spec.ports[1]", "duplicate"),
		Entry("P02 the same, swapped", with("ports: [{name: b, port: 80, protocol: TCP, targetPort: 8081}, {name: a, port: 80, targetPort: 8080}]"), "spec.ports[1]", "duplicate"),
		Entry("the same port name twice", with("ports: [{name: a, port: 80}, {name: a, port: 81}]"), "spec.ports[1].name", "duplicate"),
		Entry("port out of range", with("ports: [{port: 70000}]"), "spec.ports[0].port", "65535"),
		Entry("unknown protocol", with("ports: [{port: 80, protocol: HTTP}]"), "spec.ports[0].protocol", "tcp"),
		Entry("node port out of range", with("ports: [{port: 80, nodePort: 70000}]"), "spec.ports[0].nodePort", "65535"),
		Entry("negative node port", with("ports: [{port: 80, nodePort: -1}]"), "spec.ports[0].nodePort", "-1"),
		Entry("the same node port twice", with("ports: [{name: a, port: 80, nodePort: 30080}, {name: b, port: 81, nodePort: 30080}]"), "spec.ports[1].nodePort", "duplicate"),
		Entry("S03 node port beside ClusterIP", with("service: {type: ClusterIP}\n  ports: [{port: 80, nodePort: 30080}]"), "spec.ports[0].nodePort", "clusterip"),
		Entry("P09 named target port", with("ports: [{name: web, port: 80, targetPort: http}]"), "spec.ports[0].targetPort", "number"),
		Entry("P07 quoted target port", with("ports: [{name: web, port: 80, targetPort: '8080'}]"), "spec.ports[0].targetPort", "quotes"),
		Entry("service without ports", with("service: {type: NodePort}"), "spec.service", "ports"),
		Entry("Service annotation that no one allowed", with(web+"\n  service: {annotations: {other.example.com/a: b}}"), "spec.service.annotations[other.example.com/a]", "lb.example.com/"),
		Entry("E01 duplicate env names", with("envs: [{name: MODE, value: qa}, {name: REGION, value: eu}, {name: MODE, value: qa}]"), "spec.envs[2].name", "duplicate"),
		Entry("E07 empty env name", with("envs: [{name: '', value: x}]"), "spec.envs[0].name", "name"),
		Entry("E07 env name with =", with("envs: [{name: 'A=B', value: x}]"), "spec.envs[0].name", "="),
		Entry("E08 bare number", with("envs: [{name: PORT, value: 8080}]"), "spec.envs[0].value", "string"),
		Entry("E08 bare boolean", with("envs: [{name: DEBUG, value: true}]"), "spec.envs[0].value", "string"),
		Entry("value beside valueFrom", with("envs: [{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"), "spec.envs[0].value", "valuefrom"),
		Entry("Q04 request above limit", with("resources: {requests: {memory: 256Mi}, limits: {memory: 256M}}"), "spec.resources.requests[memory]", "limit"),
		Entry("Q03 memory in milli-bytes", with("resources: {limits: {memory: 512m}}"), "spec.resources.limits[memory]", "mi"),
		Entry("quantity that Go cannot decode", with("resources: {limits: {memory: 1e1.5}}"), "spec.resources.limits.memory", "match"),
		Entry("Q06 bare fraction", with("resources: {requests: {cpu: 0.5}}"), "spec.resources.requests.cpu", "string"),
		Entry("liveness success threshold", with(web+"\n  probes: {liveness: {tcpSocket: {port: 80}, successThreshold: 2}}"), "spec.probes.liveness.successThreshold", "1"),
		Entry("probe of an unknown port", with(web+"\n  probes: {readiness: {httpGet: {port: http}}}"), "spec.probes.readiness.httpGet.port", "spec.ports"),
		Entry("probe of another host", with(web+"\n  probes: {readiness: {httpGet: {port: 80, host: 10.0.0.1}}}"), "spec.probes.readiness.httpGet.host", "host"),
		Entry("reserved label", with("podLabels: {app.kubernetes.io/name: other}"), "spec.podLabels[app.kubernetes.io/name]", "operator"),
		Entry("privileged", with("securityContext: {privileged: true}"), "spec.securityContext.privileged", "privileged"),
		Entry("host process", with("securityContext: {windowsOptions: {hostProcess: true}}"), "spec.securityContext.windowsOptions.hostProcess", "host"),
		Entry("capability beyond the baseline", with("securityContext: {capabilities: {add: [SYS_ADMIN]}}"), "spec.securityContext.capabilities.add[0]", "sys_admin"),
		Entry("N02 name with a dot", "metadata: {name: shop.v2}\nspec: {image: nginx:1.27}", "metadata.name", "dots"),
		Entry("N02 name that starts with a digit", "metadata: {name: 1st-shop}\nspec: {image: nginx:1.27}", "metadata.name", "letter"),
		Entry("N01 name of 64 characters", fmt.Sprintf("metadata: {name: %s}\nspec: {image: nginx:1.27}", strings.Repeat("a", 64)), "metadata.name", "63"),
	)

	It("is refused by kubectl in words that a person can use", func(ctx SpecContext) {
		out, err := plane.KubectlStdin(ctx, `
apiVersion: app.ydzs.io/v1beta1
kind: MyApp
metadata: {name: bad}
spec: {image: nginx:1.27, ports: [{name: web, port: 80, targetPort: '8080'}]}
`, "apply", "-f", "-")
		Expect(err).To(HaveOccurred())
		Expect(out).To(And(ContainSubstring(`The MyApp "bad" is invalid`), ContainSubstring("spec.ports[0].targetPort")))
	})
})

var _ = Describe("A good MyApp", func() {
	DescribeTable("is accepted", func(ctx context.Context, document string) {
		Expect(admin.Create(ctx, parse(document), client.DryRunAll)).To(Succeed())
	},
		Entry("M01 registry with a port, no tag", "spec: {image: 'registry.example.com:5000/team/web'}"),
		Entry("M01 localhost", "spec: {image: 'localhost:5000/web:1.2'}"),
		Entry("M01 IPv6 registry", "spec: {image: '[2001:db8::1]:5000/team/web:1.2'}"),
		Entry("M02 tag and digest", "spec: {image: 'registry.example.com/team/web:1.4@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}"),
		Entry("M04 upper case in the tag", "spec: {image: 'registry.example.com/team/web:RC1'}"),
		Entry("Z01 size 0", with("size: 0")),
		Entry("P01 two protocols on one number", with("ports: [{name: dns-tcp, port: 5353, protocol: TCP}, {name: dns-udp, port: 5353, protocol: UDP}]")),
		Entry("P03 two ports on one target", with("ports: [{name: http, port: 80, targetPort: 8080}, {name: admin, port: 8081, targetPort: 8080}]")),
		Entry("P04 several ports without names", with("ports: [{port: 8080}, {port: 9090}]")),
		Entry("E07 relaxed env name", with("envs: [{name: 2fa.mode, value: 'on'}]")),
		Entry("E08 quoted numbers", with("envs: [{name: PORT, value: '8080'}, {name: VER, value: '1.10'}]")),
		Entry("Q04 equal in other words", with("resources: {requests: {cpu: '1.5'}, limits: {cpu: 1500m}}")),
		Entry("Q06 whole number", with("resources: {requests: {cpu: 1}}")),
		Entry("S04 a policy that the type has not", with(web+"\n  service: {type: ClusterIP, externalTrafficPolicy: Local}")),
		Entry("allowed Service annotation", with(web+"\n  service: {annotations: {lb.example.com/a: b}}")),
		Entry("N01 name of 63 characters", fmt.Sprintf("metadata: {name: %s}\nspec: {image: nginx:1.27}", strings.Repeat("a", 63))),
	)

	It("gets its constant defaults and nothing else", func(ctx SpecContext) {
		app := parse(with("ports: [{port: 80}]"))
		Expect(admin.Create(ctx, app, client.DryRunAll)).To(Succeed())
		Expect(app.Object["spec"]).To(Equal(map[string]any{
			"image": "nginx:1.27", "size": int64(1), "deletionPolicy": "Delete", "terminationGracePeriodSeconds": int64(30),
			"ports": []any{map[string]any{"port": int64(80)}},
		}))
		Expect(app.GetFinalizers()).To(BeEmpty())
	})

	It("Z01 keeps size 0, and has the finalizer under Drain", func(ctx SpecContext) {
		app := parse(with("size: 0\n  deletionPolicy: Drain"))
		Expect(admin.Create(ctx, app, client.DryRunAll)).To(Succeed())
		size, _, err := unstructured.NestedInt64(app.Object, "spec", "size")
		Expect(err).NotTo(HaveOccurred())
		Expect(size).To(BeZero())
		Expect(app.GetFinalizers()).To(Equal([]string{"app.ydzs.io/teardown"}))
	})

	It("is warned about what is risky", func(ctx SpecContext) {
		out, err := plane.KubectlStdin(ctx, `
apiVersion: app.ydzs.io/v1beta1
kind: MyApp
metadata: {name: risky}
spec: {image: nginx}
`, "apply", "--dry-run=server", "-f", "-")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(And(ContainSubstring("Warning: spec.image"), ContainSubstring("Warning: spec.resources")))
	})
})

var _ = Describe("A MyApp with problems from before", func() {
	// stored by an admission that did not look: the validating webhook is away for a moment.
	stored := func(ctx context.Context, document string) *unstructured.Unstructured {
		GinkgoHelper()
		config := &unstructured.Unstructured{}
		config.SetAPIVersion("admissionregistration.k8s.io/v1")
		config.SetKind("ValidatingWebhookConfiguration")
		Expect(admin.Get(ctx, client.ObjectKey{Name: "validating-webhook-configuration"}, config)).To(Succeed())
		Expect(admin.Delete(ctx, config.DeepCopy())).To(Succeed())
		app := parse(document)
		Eventually(func() error {
			attempt := app.DeepCopy()
			if err := admin.Create(ctx, attempt); err != nil {
				return err
			}
			app = attempt
			return nil
		}).WithTimeout(10 * time.Second).Should(Succeed())
		config.SetResourceVersion("")
		config.SetUID("")
		Expect(admin.Create(ctx, config)).To(Succeed())
		bad := parse(with("ports: [{port: 80, targetPort: http}]"))
		Eventually(func() error { return admin.Create(ctx, bad.DeepCopy(), client.DryRunAll) }).WithTimeout(10 * time.Second).ShouldNot(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(admin.Delete(ctx, app))).To(Succeed()) })
		return app
	}
	patch := func(ctx context.Context, app *unstructured.Unstructured, merge string) error {
		return admin.Patch(ctx, app, client.RawPatch("application/merge-patch+json", []byte(merge)))
	}

	It("W01 can be edited elsewhere, but gets no new ones", func(ctx SpecContext) {
		app := stored(ctx, with("envs: [{name: MODE, value: a}, {name: MODE, value: b}]\n  size: 1"))
		Expect(patch(ctx, app, `{"spec":{"size":2}}`)).To(Succeed())
		Expect(patch(ctx, app, `{"metadata":{"labels":{"team":"a"}}}`)).To(Succeed())
		out, err := plane.Kubectl(ctx, "scale", "myapp", app.GetName(), "--replicas=3")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
		Expect(patch(ctx, app, `{"spec":{"envs":[{"name":"MODE","value":"a"},{"name":"MODE","value":"b"},{"name":"MODE","value":"c"}]}}`)).
			To(MatchError(ContainSubstring("spec.envs[2].name")))
		Expect(patch(ctx, app, `{"spec":{"envs":[{"name":"MODE","value":"b"}]}}`)).To(Succeed())
	})

	It("Q03 can be edited although its memory is in milli-bytes", func(ctx SpecContext) {
		app := stored(ctx, with("resources: {limits: {memory: 512m}}"))
		Expect(patch(ctx, app, `{"spec":{"size":2}}`)).To(Succeed())
		Expect(admin.Delete(ctx, app)).To(Succeed())
	})

	It("F01 can be deleted; a mixed update of one that stays is still judged", func(ctx SpecContext) {
		app := stored(ctx, "metadata: {generateName: case-, finalizers: [app.ydzs.io/teardown]}\n"+
			"spec: {image: nginx:1.27, ports: [{name: web, port: 80}, {name: web, port: 81}]}")
		Expect(patch(ctx, app, `{"metadata":{"finalizers":null},"spec":{"ports":[{"name":"web","port":80},{"name":"web","port":81},{"name":"web","port":82}]}}`)).
			To(MatchError(ContainSubstring("spec.ports[2].name")))
		Expect(admin.Delete(ctx, app)).To(Succeed())
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
		Expect(patch(ctx, app, `{"metadata":{"finalizers":null}}`)).To(Succeed())
		Expect(apierrors.IsNotFound(admin.Get(ctx, client.ObjectKeyFromObject(app), app))).To(BeTrue())
	})
})
