package controlplane

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"ydzs.io/myapp-operator/test/cluster"
)

// bound is what one MyApp may cost the API server when its children settle within a second.
type bound struct{ writes, reads int }

// span is a time in the life of one MyApp in which a row of the budget holds. Without an app it is for all requests that
// belong to no other span.
type span struct {
	row   string
	app   types.NamespacedName
	bound bound
	// rollout allows one more write for each window in which the Deployment still moved.
	rollout  bool
	from, to time.Time
}

// ledger attributes the operator's requests to spans.
type ledger struct {
	mu    sync.Mutex
	spans []span
}

func (l *ledger) add(s span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spans = append(l.spans, s)
}

// cost is what a span turned out to cost.
type cost struct {
	span
	writes, reads, conflicts int
	requests                 []cluster.Event
	// settled is when the Deployment moved last, counted from the beginning.
	settled time.Duration
}

func (c *cost) take(e cluster.Event) {
	if e.User != operatorUser {
		c.settled = max(c.settled, e.Time.Add(e.Latency).Sub(c.from))
		return
	}
	c.requests = append(c.requests, e)
	switch {
	case isWrite(e):
		c.writes++
	case e.Verb != "watch":
		c.reads++
	}
	if e.Code == 409 {
		c.conflicts++
	}
}

// allowed is the number of writes that the span may cost. What the operator reports later than a second after a change
// it gathers in windows, each as long as the MyApp has been unready by then, from 1 s to 30 s. The report waits for a
// second and the cache lags a little, so what comes just before the end of the first second may miss it.
func (c *cost) allowed() int {
	windows := 0
	for at := 900 * time.Millisecond; c.rollout && at < c.settled; at += min(max(at, time.Second), 30*time.Second) {
		windows++
	}
	return c.bound.writes + windows
}

// excess words what is above the bound; empty when nothing is.
func (c *cost) excess() string {
	what := ""
	if c.writes > c.allowed() || c.reads > c.bound.reads || c.conflicts > 0 {
		what = fmt.Sprintf("%d writes (at most %d), %d reads (at most %d), %d conflicts (none); its Deployment settled within %.3f s",
			c.writes, c.allowed(), c.reads, c.bound.reads, c.conflicts, c.settled.Seconds())
	}
	if twice := c.twice(); twice != "" {
		what = "more than once: " + twice
	}
	if what == "" {
		return ""
	}
	return fmt.Sprintf("%s, %s: %s%s", c.row, c.of(), what, list(c.requests, c.from))
}

// newWatches makes of what an informer asks of an older server what it asks of a newer one: where a watch cannot begin with
// a list, as by default before Kubernetes 1.34, it is refused, and a list and another watch follow. Only these go.
func newWatches(events []cluster.Event) []cluster.Event {
	refused := map[string]int{}
	return slices.DeleteFunc(events, func(e cluster.Event) bool {
		informer := e.Resource + " of " + e.User
		switch {
		case e.Verb == "watch" && e.Code == http.StatusUnprocessableEntity:
			refused[informer]++
			return true
		case e.Verb == "list" && refused[informer] > 0:
			refused[informer]--
			return true
		}
		return false
	})
}

// twice is what was listed or watched more than once: an informer needs one LIST at most, and one WATCH. What the API
// server put off does not count: just after the CRD was made it is not ready to serve MyApps and asks to come back.
func (c *cost) twice() string {
	count := map[string]int{}
	for _, e := range c.requests {
		if e.Verb != "list" && e.Verb != "watch" || e.Code == http.StatusTooManyRequests {
			continue
		}
		if count[e.Target()]++; count[e.Target()] > 1 {
			return e.Target()
		}
	}
	return ""
}

func (c *cost) of() string {
	if c.app.Name == "" {
		return "all MyApps"
	}
	return c.app.String()
}

// covers tells whether a request belongs to the span. A child has its MyApp's name, and an event begins with it. ConfigMaps
// belong to the one MyApp of their namespace that restarts for them.
func (s *span) covers(e cluster.Event) bool {
	if e.Time.Before(s.from) || !e.Time.Before(s.to) {
		return false
	}
	name := e.Name
	if e.Resource == "events" {
		name, _, _ = strings.Cut(name, ".")
	}
	if e.Resource == "configmaps" {
		name = s.app.Name
	}
	return s.app.Name == "" || s.app == types.NamespacedName{Namespace: e.Namespace, Name: name}
}

// settle attributes the requests. left are those that belong to no span; a watch may be renewed at any time.
func (l *ledger) settle(events []cluster.Event) (costs []cost, left []cluster.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.SortStableFunc(l.spans, func(a, b span) int { return a.from.Compare(b.from) })
	for _, s := range l.spans {
		costs = append(costs, cost{span: s})
	}
	for _, e := range events {
		i := slices.IndexFunc(costs, func(c cost) bool { return c.app.Name != "" && c.covers(e) })
		if i < 0 && e.User == operatorUser {
			i = slices.IndexFunc(costs, func(c cost) bool { return c.covers(e) })
		}
		switch {
		case i >= 0:
			costs[i].take(e)
		case e.Verb != "watch" && e.User == operatorUser:
			left = append(left, e)
		}
	}
	return costs, left
}

// table renders the costs by row, in the order of the rows' beginnings.
func table(costs []cost) string {
	var b strings.Builder
	b.WriteString("| event | MyApps | settled within | writes: allowed | most | all | reads: allowed | most | all | conflicts |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|\n")
	byRow := map[string][]cost{}
	var rows []string
	for _, c := range costs {
		if byRow[c.row] == nil {
			rows = append(rows, c.row)
		}
		byRow[c.row] = append(byRow[c.row], c)
	}
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", row, summary(byRow[row]))
	}
	return b.String()
}

// summary is a row of the table without its name.
func summary(costs []cost) string {
	var most, all cost
	low, high := costs[0].allowed(), 0
	for _, c := range costs {
		low, high = min(low, c.allowed()), max(high, c.allowed())
		most.settled = max(most.settled, c.settled)
		most.writes, all.writes = max(most.writes, c.writes), all.writes+c.writes
		most.reads, all.reads = max(most.reads, c.reads), all.reads+c.reads
		all.conflicts += c.conflicts
	}
	allowed := fmt.Sprint(high)
	if low != high {
		allowed = fmt.Sprintf("%d to %d", low, high)
	}
	apps := fmt.Sprint(len(costs))
	if costs[0].app.Name == "" {
		apps = "all"
	}
	return fmt.Sprintf("%s | %.1f s | %s | %d | %d | %d | %d | %d | %d", apps, most.settled.Seconds(),
		allowed, most.writes, all.writes, costs[0].bound.reads, most.reads, all.reads, all.conflicts)
}

// list renders requests with their times, counted from a beginning.
func list(events []cluster.Event, from time.Time) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "\n    %+8.3fs %s %s/%s: %d", e.Time.Sub(from).Seconds(), e.Target(), e.Namespace, e.Name, e.Code)
	}
	return b.String()
}

func isWrite(e cluster.Event) bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb)
}

// budgeted tells whether a request counts: what the operator sends, but for discovery, the Lease and the event of a new
// leader; and what moves a Deployment.
func budgeted(e cluster.Event) bool {
	if e.User != operatorUser {
		return e.Target() == "update deployments/status"
	}
	return e.Counts() && e.Resource != "" && e.Namespace != operatorNamespace
}
