package controlplane

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

// patientLease is leader election that outlasts a request of 5 s.
var patientLease = []string{
	"--leader-election-lease-duration=30s", "--leader-election-renew-deadline=20s", "--leader-election-retry-period=500ms",
}

// valve lets what a client sends through, or holds it.
type valve struct {
	mu sync.Mutex
	// gate is closed while the valve is open.
	gate chan struct{}
}

func openValve() *valve {
	gate := make(chan struct{})
	close(gate)
	return &valve{gate: gate}
}

func (v *valve) hold() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gate = make(chan struct{})
}

func (v *valve) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.gate)
}

func (v *valve) wait() {
	v.mu.Lock()
	gate := v.gate
	v.mu.Unlock()
	<-gate
}

// serve passes connections on, through the valve in one direction, until the spec ends.
func (v *valve) serve(from, to string) {
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
			go pipe(near, far)
			go func() {
				_, _ = io.Copy(throttled{far, v}, near)
				_ = far.Close()
			}()
		}
	}()
}

type throttled struct {
	io.Writer
	valve *valve
}

func (t throttled) Write(p []byte) (int, error) {
	t.valve.wait()
	return t.Writer.Write(p)
}

// asker asks a replica for admission every 50 ms and keeps what goes wrong.
type asker struct {
	mu       sync.Mutex
	asked    int
	failures []string
}

// ask begins; the function that it returns ends it.
func (a *asker) ask(port int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	// Whoever signed the certificate: what counts is that there is an answer.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	done.Go(func() {
		for ctx.Err() == nil {
			err := review(&http.Client{Transport: transport, Timeout: 5 * time.Second}, port)
			a.mu.Lock()
			if a.asked++; err != nil {
				a.failures = append(a.failures, err.Error())
			}
			a.mu.Unlock()
			_ = pause(ctx, 50*time.Millisecond)
		}
	})
	return func() { cancel(); done.Wait(); transport.CloseIdleConnections() }
}

// review asks once whether a good MyApp may be made.
func review(c *http.Client, port int) error {
	app, err := json.Marshal(wrappers.MakeMyApp("asked", "default").Obj())
	if err != nil {
		return err
	}
	body := fmt.Sprintf(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","object":%s}}`, app)
	response, err := c.Post("https://"+loopback(port)+"/validate-app-ydzs-io-v1beta1-myapp", "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && !strings.Contains(string(answer), `"allowed":true`) {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return err
}

// standby starts a replica that serves admission on a port of its own.
func standby(ctx context.Context, user string, flags ...string) (*operator, int) {
	GinkgoHelper()
	ports, err := cluster.FreePorts(1)
	Expect(err).NotTo(HaveOccurred())
	o, err := plane.startOperator(user, append(flags, "--webhook-port="+strconv.Itoa(ports[0]))...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { o.Kill() })
	Expect(o.waitReady(ctx)).To(Succeed())
	return o, ports[0]
}

// slowLeader starts a replica that leads and whose requests go through a valve.
func slowLeader(ctx context.Context, user string) (*operator, *valve) {
	GinkgoHelper()
	kubectl(ctx, "delete", "lease", "--all", "-n", operatorNamespace)
	config, err := plane.UserConfig(user, operatorGroup)
	Expect(err).NotTo(HaveOccurred())
	ports, err := cluster.FreePorts(2)
	Expect(err).NotTo(HaveOccurred())
	server, err := url.Parse(config.Host)
	Expect(err).NotTo(HaveOccurred())
	v := openValve()
	v.serve(loopback(ports[0]), server.Host)
	config.Host = "https://" + loopback(ports[0])
	path := filepath.Join(plane.Dir, user+".kubeconfig")
	Expect(cluster.WriteKubeconfig(config, path)).To(Succeed())
	o, err := plane.launch(launch{user: user, kubeconfig: path, flags: append(patientLease, "--webhook-port="+strconv.Itoa(ports[1]))})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { o.Kill() })
	Expect(o.waitReady(ctx)).To(Succeed())
	Eventually(ctx, func() string { return plane.holder(ctx) }).ShouldNot(BeEmpty())
	return o, v
}

// freeLease lets the next replica lead at once.
func freeLease(ctx SpecContext) {
	kubectl(ctx, "delete", "lease", "--all", "-n", operatorNamespace)
}

func handoverSpecs() {
	It("C10, W08 ends in order when it is told to in the middle of a slow reconcile, and admission is answered all the while", func(ctx SpecContext) {
		ns := newNamespace(ctx, "slow")
		leading, v := slowLeader(ctx, "leading")
		_, port := standby(ctx, "following", patientLease...)
		serves(ctx, ns, "before")
		since := mark(ctx)
		var all asker
		stop := all.ask(port)

		v.hold()
		create(ctx, wrappers.MakeMyApp("during", ns).Port(80).Obj())
		Expect(pause(ctx, time.Second)).To(Succeed())
		leading.Signal(syscall.SIGTERM)
		Expect(pause(ctx, 5*time.Second)).To(Succeed())
		v.release()
		Eventually(ctx, leading.running).Should(BeFalse(), "the process stays after its work is done")
		Expect(leading.err).NotTo(HaveOccurred())
		ended := mark(ctx)
		reaches(ctx, wrappers.MakeMyApp("during", ns).Obj(), rolledOut)
		serves(ctx, ns, "after")
		stop()
		Expect(all.asked).To(BeNumerically(">", 20))
		Expect(all.failures).To(BeEmpty())
		Expect(writes(ctx, ended, "leading", ns)).To(BeEmpty())

		By("the Lease is given up after the last write, so that no two lead")
		var released time.Time
		for _, e := range requests(ctx, since, func(e cluster.Event) bool { return e.User == "leading" && e.Resource == "leases" && isWrite(e) }) {
			released = e.Time
		}
		Expect(released).NotTo(BeZero())
		for _, e := range writes(ctx, since, "leading", ns) {
			Expect(e.Time).NotTo(BeTemporally(">", released), e.Target())
		}
		made := len(createdChildren(ctx, since, "leading", ns)) + len(createdChildren(ctx, since, "following", ns))
		Expect(made).To(Equal(4), "a child was made twice or never")
	}, SpecTimeout(2*time.Minute))

	It("C10 does no work in a replica that stands by while it is told to stop", func(ctx SpecContext) {
		kubectl(ctx, "delete", "lease", "--all", "-n", operatorNamespace)
		ns := newNamespace(ctx, "follower")
		_, port := standby(ctx, "first", patientLease...)
		serves(ctx, ns, "before")
		second, _ := standby(ctx, "stopped", patientLease...)
		since := mark(ctx)
		var all asker
		stop := all.ask(port)
		second.Signal(syscall.SIGTERM)
		serves(ctx, ns, "during")
		Eventually(ctx, second.running).Should(BeFalse())
		Expect(second.err).NotTo(HaveOccurred())
		serves(ctx, ns, "after")
		stop()
		Expect(all.failures).To(BeEmpty())
		Expect(requests(ctx, since, func(e cluster.Event) bool { return e.User == "stopped" && isWrite(e) })).To(BeEmpty())
	}, SpecTimeout(time.Minute))

	DescribeTable("W09 is ready soon, with MyApps stored from before, whatever it has to wait for",
		func(ctx SpecContext, group string, env []string, flags ...string) {
			ns := newNamespace(ctx, "start")
			freeLease(ctx)
			// The last one to be killed would be waited for by the next spec.
			DeferCleanup(freeLease)
			_, _ = standby(ctx, "holding", patientLease...)
			serves(ctx, ns, "stored")
			holder := plane.holder(ctx)

			user := "starting-" + ns
			var groups []string
			if group != "" {
				groups = append(groups, group)
			}
			config, err := plane.UserConfig(user, groups...)
			Expect(err).NotTo(HaveOccurred())
			path := filepath.Join(plane.Dir, user+".kubeconfig")
			Expect(cluster.WriteKubeconfig(config, path)).To(Succeed())
			ports, err := cluster.FreePorts(1)
			Expect(err).NotTo(HaveOccurred())
			flags = append(append(append([]string{}, patientLease...), "--webhook-port="+strconv.Itoa(ports[0])), flags...)
			o, err := plane.launch(launch{user: user, kubeconfig: path, flags: flags, env: env})
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func() { o.Kill() })
			Eventually(ctx, func() int { return o.probe("/readyz") }, "30s").Should(Equal(http.StatusOK), o.logTail())
			transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
			defer transport.CloseIdleConnections()
			Expect(review(&http.Client{Transport: transport}, ports[0])).To(Succeed())
			Expect(plane.holder(ctx)).To(Equal(holder))
		},
		Entry("one CPU, and no election to wait for", operatorGroup, []string{"GOMAXPROCS=1"}, "--leader-elect=false"),
		Entry("another replica that leads", operatorGroup, []string{"GOMAXPROCS=1"}),
		Entry("caches that never fill, since it may read nothing", "", nil, "--leader-elect=false"),
	)
}
