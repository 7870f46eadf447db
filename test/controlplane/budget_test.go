package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"ydzs.io/myapp-operator/test/cluster"
)

const (
	// budgetApps MyApps go through every row, one every pace: a burst would hide waste, since events of one object
	// coalesce while others are served.
	budgetApps = 20
	// fullestApps have every field set.
	fullestApps = 5
	pace        = 1500 * time.Millisecond
	// quiet is how long a MyApp is watched after each change has arrived: longer than anything is put off for a MyApp
	// that is ready.
	quiet = 4 * time.Second
	// lateQuiet is the same for MyApps with slow pods: what was put off while they were not ready may still come.
	lateQuiet = 10 * time.Second
	steady    = 60 * time.Second
	// resync is the forced resync's period, give or take a tenth.
	resync = 10 * time.Second
)

// informers are the kinds that the operator watches: MyApps, their pods, seven kinds of children, the definitions by which
// two of these come and go, and ConfigMaps while a MyApp restarts for them. A start costs one LIST of each at most.
const informers = 11

// budget is the run that counts requests; nil until it is started.
var budget *budgetRun

// budgetRuns tells whether the run is to begin with the suite. Under a focus it begins when its spec does.
func budgetRuns() bool {
	suite, _ := GinkgoConfiguration()
	return len(suite.FocusStrings) == 0 && len(suite.SkipStrings) == 0
}

func budgetSpecs() {
	It("C01, T01 keeps the request budget", func(ctx SpecContext) {
		if budget == nil {
			budget = startBudget()
			DeferCleanup(budget.stop)
		}
		select {
		case <-budget.done:
		case <-ctx.Done():
			Fail("the run did not end in time")
		}
		if budget.table != "" {
			fmt.Println("\n" + budget.table)
		}
		Expect(budget.err).NotTo(HaveOccurred())
	}, SpecTimeout(8*time.Minute))
}

type budgetRun struct {
	site     *site
	operator *operator
	ledger   ledger

	table string
	err   error

	cancel context.CancelFunc
	done   chan struct{}
}

// startBudget starts the run in the background.
func startBudget() *budgetRun {
	ctx, cancel := context.WithCancel(context.Background())
	r := &budgetRun{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = r.run(ctx)
	}()
	return r
}

func (r *budgetRun) stop() {
	r.cancel()
	<-r.done
}

func (r *budgetRun) run(ctx context.Context) (err error) {
	if r.site, err = startSite(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.site.Stop()) }()
	if err := r.live(ctx); err != nil {
		if r.operator != nil {
			err = fmt.Errorf("%w; the operator's log ends:\n%s", err, r.operator.logTail())
		}
		return err
	}
	events, err := r.site.AuditEvents(ctx, cluster.Mark{}, budgeted)
	if err != nil {
		return err
	}
	return r.judge(newWatches(events))
}

// live is the whole run: MyApps with instant pods go through all changes while others come up and rest; then the operator
// is restarted.
func (r *budgetRun) live(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := r.start(ctx, "operator started"); err != nil {
		return err
	}
	if err := together(
		func() error { return r.changing(ctx) },
		func() error { return r.resting(ctx) },
	); err != nil {
		return err
	}
	return r.restarting(ctx)
}

// prepare makes what the MyApps need.
func (r *budgetRun) prepare(ctx context.Context) error {
	for _, ns := range []string{"instant", "slow"} {
		if err := r.site.namespace(ctx, ns); err != nil {
			return err
		}
	}
	for i := range fullestApps {
		if err := errors.Join(r.site.namespace(ctx, fullest(i)), r.site.claim(ctx, fullest(i), "data")); err != nil {
			return err
		}
	}
	return errors.Join(r.site.InstallCertManagerCRDs(ctx), r.site.InstallServiceMonitorCRD(ctx))
}

// fullest is the namespace of a MyApp with every field set. Each has its own, so that what it refers to tells whose
// requests are whose.
func fullest(i int) string { return fmt.Sprintf("fullest-%d", i) }

// start starts the operator and waits until it leads and has looked at everything.
func (r *budgetRun) start(ctx context.Context, row string, flags ...string) (err error) {
	from := time.Now()
	if r.operator, err = r.site.startOperator(operatorUser, append(flags, "--metrics-secure=false")...); err != nil {
		return err
	}
	if err := r.operator.waitReady(ctx); err != nil {
		return err
	}
	if err := until(ctx, "the operator to lead", func(ctx context.Context) bool { return r.site.holder(ctx) != "" }); err != nil {
		return err
	}
	if err := pause(ctx, quiet); err != nil {
		return err
	}
	r.ledger.add(span{row: row, bound: bound{reads: informers}, from: from, to: time.Now()})
	return nil
}

// restarting restarts the operator with a short resync and counts through two of them.
func (r *budgetRun) restarting(ctx context.Context) error {
	if err := r.operator.Stop(); err != nil {
		return err
	}
	if err := r.start(ctx, "operator restarted", "--sync-period="+resync.String()); err != nil {
		return err
	}
	before, err := r.operator.reconciles()
	if err != nil {
		return err
	}
	from := time.Now()
	if err := pause(ctx, 5*resync/2); err != nil {
		return err
	}
	after, err := r.operator.reconciles()
	if err != nil {
		return err
	}
	r.ledger.add(span{row: "forced resync, twice", from: from, to: time.Now()})
	if apps := budgetApps + fullestApps; after-before < 2*apps {
		return fmt.Errorf("only %d passes over %d MyApps in two resyncs", after-before, apps)
	}
	return nil
}

// judge makes the table and finds every excess.
func (r *budgetRun) judge(events []cluster.Event) error {
	costs, left := r.ledger.settle(events)
	r.table = table(costs)
	var excesses []string
	for _, c := range costs {
		if e := c.excess(); e != "" {
			excesses = append(excesses, e)
		}
	}
	if len(left) > 0 {
		excesses = append(excesses, "requests that belong to no row:"+list(left, left[0].Time))
	}
	if len(excesses) == 0 {
		return nil
	}
	return errors.New("more requests than allowed:\n" + strings.Join(excesses, "\n"))
}

// together runs all at once and returns all errors.
func together(all ...func() error) error {
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, f := range all {
		group.Go(func() { errs[i] = f() })
	}
	group.Wait()
	return errors.Join(errs...)
}

// paced runs f n times at once, one more every pace.
func paced(ctx context.Context, n int, f func(i int) error) error {
	var all []func() error
	for i := range n {
		all = append(all, func() error {
			if err := pause(ctx, time.Duration(i)*pace); err != nil {
				return err
			}
			return f(i)
		})
	}
	return together(all...)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var reconcileTotal = regexp.MustCompile(`(?m)^controller_runtime_reconcile_total\{[^}]*\} (\S+)$`)

// reconciles is how many passes the operator has made, from its metrics.
func (o *operator) reconciles() (int, error) {
	response, err := http.Get("http://" + o.metrics + "/metrics")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, m := range reconcileTotal.FindAllSubmatch(body, -1) {
		n, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return 0, err
		}
		total += int(n)
	}
	return total, nil
}
