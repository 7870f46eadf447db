package controlplane

import (
	"context"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

// shortLease is leader election with times that a test can wait for.
var shortLease = []string{
	"--leader-election-lease-duration=6s", "--leader-election-renew-deadline=4s", "--leader-election-retry-period=500ms",
}

// processSpecs are about the process. They stop the operator that the other specs need, and leave admission out: no
// replica here serves where the API server calls.
func processSpecs() {
	Describe("as a process", func() {
		servingSpecs()
		leaderSpecs()
		handoverSpecs()
		startSpecs()
		unattendedSpecs()
		lateWatchSpecs()
	})
}

// replica starts one more operator, with webhooks on a port of its own, and waits until it is ready.
func replica(ctx context.Context, user string, flags ...string) *operator {
	GinkgoHelper()
	ports, err := cluster.FreePorts(1)
	Expect(err).NotTo(HaveOccurred())
	o, err := plane.startOperator(user, append([]string{"--webhook-port=" + strconv.Itoa(ports[0])}, flags...)...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { o.Kill() })
	Expect(o.waitReady(ctx)).To(Succeed())
	return o
}

// serves makes a MyApp and waits until it runs.
func serves(ctx context.Context, ns, name string) {
	GinkgoHelper()
	app := wrappers.MakeMyApp(name, ns).Port(80).Obj()
	create(ctx, app)
	reaches(ctx, app, rolledOut)
}

func leaderSpecs() {
	It("C10 hands over at once when it is told to stop", func(ctx SpecContext) {
		ns := newNamespace(ctx, "handover")
		replica(ctx, "second", shortLease...)
		serves(ctx, ns, "before")
		since := mark(ctx)
		Expect(leader.Stop()).To(Succeed())
		serves(ctx, ns, "after")
		Expect(writes(ctx, since, operatorUser, ns)).To(BeEmpty())
		Expect(writes(ctx, since, "second", ns)).NotTo(BeEmpty())
		Expect(createdChildren(ctx, since, "second", ns)).To(HaveLen(2), "it made again what was there")
	})

	It("C09 is followed when it is killed, once its Lease has run out", func(ctx SpecContext) {
		ns := newNamespace(ctx, "killed")
		first := replica(ctx, "first", shortLease...)
		serves(ctx, ns, "before")
		replica(ctx, "second", shortLease...)
		first.Kill()
		serves(ctx, ns, "after")
	})

	It("C09 writes nothing any more when it wakes after another has taken over", func(ctx SpecContext) {
		ns := newNamespace(ctx, "frozen")
		first := replica(ctx, "frozen", shortLease...)
		serves(ctx, ns, "before")
		frozen := plane.holder(ctx)
		second := replica(ctx, "second", shortLease...)
		first.Signal(syscall.SIGSTOP)
		create(ctx, wrappers.MakeMyApp("during", ns).Port(80).Obj())
		Eventually(ctx, func() string { return plane.holder(ctx) }).ShouldNot(Equal(frozen))
		reaches(ctx, wrappers.MakeMyApp("during", ns).Obj(), rolledOut)
		since := mark(ctx)
		first.Signal(syscall.SIGCONT)
		create(ctx, wrappers.MakeMyApp("later", ns).Port(80).Obj())
		reaches(ctx, wrappers.MakeMyApp("later", ns).Obj(), rolledOut)
		Eventually(ctx, first.running).Should(BeFalse(), "a replica that lost its Lease goes on")
		Expect(writes(ctx, since, "frozen", ns)).To(BeEmpty())
		Expect(second.running()).To(BeTrue())
	}, SpecTimeout(time.Minute))
}

func startSpecs() {
	It("O11 starts without certificates when admission is off, and serves the namespaces it is told", func(ctx SpecContext) {
		inside, also, outside := newNamespace(ctx, "inside"), newNamespace(ctx, "also"), newNamespace(ctx, "outside")
		kubeconfig, err := plane.kubeconfig("namespaced")
		Expect(err).NotTo(HaveOccurred())
		o, err := plane.launch(launch{
			user: "namespaced", kubeconfig: kubeconfig,
			flags: append([]string{"--webhook-cert-dir=" + filepath.Join(plane.Dir, "nowhere")}, shortLease...),
			env:   []string{"ENABLE_WEBHOOKS=false", "WATCH_NAMESPACE=" + inside + ", " + also},
		})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { o.Kill() })
		Expect(o.waitReady(ctx)).To(Succeed())
		create(ctx, wrappers.MakeMyApp("web", outside).Port(80).Obj())
		serves(ctx, inside, "web")
		serves(ctx, also, "web")
		Expect(state(ctx, wrappers.MakeMyApp("web", outside).Obj())).To(Equal("not reported yet"))
		Expect(o.Stop()).To(Succeed())
	})

	It("waits for an API server that does not answer yet", func(ctx SpecContext) {
		ns := newNamespace(ctx, "early")
		config, err := plane.UserConfig("early", operatorGroup)
		Expect(err).NotTo(HaveOccurred())
		ports, err := cluster.FreePorts(2)
		Expect(err).NotTo(HaveOccurred())
		server, err := url.Parse(config.Host)
		Expect(err).NotTo(HaveOccurred())
		config.Host = "https://" + loopback(ports[0])
		path := filepath.Join(plane.Dir, "early.kubeconfig")
		Expect(cluster.WriteKubeconfig(config, path)).To(Succeed())
		o, err := plane.launch(launch{
			user: "early", kubeconfig: path, flags: append([]string{"--webhook-port=" + strconv.Itoa(ports[1])}, shortLease...),
		})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { o.Kill() })
		Eventually(ctx, func() bool { return o.logs("waiting for the API server") }).Should(BeTrue())
		Expect(o.probe("/readyz")).To(BeZero())
		forward(loopback(ports[0]), server.Host)
		Expect(o.waitReady(ctx)).To(Succeed())
		serves(ctx, ns, "web")
	})
}

// forward passes connections on until the spec ends.
func forward(from, to string) {
	GinkgoHelper()
	listener, err := net.Listen("tcp", from)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { _ = listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			go pipe(far, near)
			go pipe(near, far)
		}
	}()
}

func pipe(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
}

func lateWatchSpecs() {
	for _, cascade := range []string{"background", "foreground", "orphan"} {
		It("F05 makes nothing again after --cascade="+cascade+" although it learns of the deletion 3 s late", func(ctx SpecContext) {
			ns := newNamespace(ctx, "late")
			user := "late-" + cascade
			config, err := plane.UserConfig(user, operatorGroup)
			Expect(err).NotTo(HaveOccurred())
			startLate(ctx, config, ns)
			app := wrappers.MakeMyApp("web", ns).Size(2).Port(80).Obj()
			create(ctx, app)
			reaches(ctx, app, rolledOut)
			since := mark(ctx)
			kubectl(ctx, "delete", "myapp", "web", "-n", ns, "--cascade="+cascade)
			if cascade != "orphan" {
				childrenAre(ctx, app, false)
			}
			// Longer than the watch lags.
			Expect(pause(ctx, 5*time.Second)).To(Succeed())
			Expect(writes(ctx, since, user, ns)).To(BeEmpty())
			if cascade == "orphan" {
				haveNoOwner(ctx, app)
			} else {
				childrenAre(ctx, app, false)
			}
		}, SpecTimeout(time.Minute))
	}
}
