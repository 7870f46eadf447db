package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// Event is one line of the audit log. A request has one line, ResponseComplete, written at its end; a watch has one
// more, ResponseStarted, at its start.
type Event struct {
	Stage string
	Verb  string
	// User is who the request was done for, the impersonated user if there was one.
	User        string
	UserAgent   string
	Resource    string
	Subresource string
	Namespace   string
	Name        string
	// URI is the path and query as sent; for a request that is for no resource, all there is.
	URI  string
	Code int
	// Time is when the request came in, Latency how long it took from then to this line.
	Time    time.Time
	Latency time.Duration
}

// Target is what Count counts by: verb and resource or path, "patch deployments/status".
func (e Event) Target() string {
	switch {
	case e.Resource == "":
		path, _, _ := strings.Cut(e.URI, "?")
		return e.Verb + " " + path
	case e.Subresource == "":
		return e.Verb + " " + e.Resource
	default:
		return e.Verb + " " + e.Resource + "/" + e.Subresource
	}
}

// Counts reports whether the line stands for its request: a watch counts when it starts, all else when it has ended.
func (e Event) Counts() bool { return (e.Stage == "ResponseStarted") == (e.Verb == "watch") }

// Mark is a point in the audit log; the zero value is its beginning.
type Mark struct{ offset int64 }

// Mark returns the point after all requests that have been answered so far.
func (c *Cluster) Mark(ctx context.Context) (Mark, error) {
	_, end, err := c.readAudit(ctx, Mark{})
	return Mark{offset: end}, err
}

// AuditEvents returns the events between a mark and now for which keep is true; nil keeps all.
func (c *Cluster) AuditEvents(ctx context.Context, since Mark, keep func(Event) bool) ([]Event, error) {
	lines, _, err := c.readAudit(ctx, since)
	if err != nil {
		return nil, err
	}
	var events []Event
	for line := range bytes.Lines(lines) {
		event, err := parseEvent(line)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(event.URI, sentinel) || keep != nil && !keep(event) {
			continue
		}
		events = append(events, event)
	}
	return events, nil
}

// Count returns how often a user asked for what between a mark and now, by Event.Target.
func (c *Cluster) Count(ctx context.Context, since Mark, user string) (map[string]int, error) {
	events, err := c.AuditEvents(ctx, since, func(e Event) bool { return e.User == user && e.Counts() })
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, event := range events {
		count[event.Target()]++
	}
	return count, nil
}

// sentinel is the path of a request that nobody else makes. The server writes a request's line after the response,
// so a reader of the log sends one more request and reads up to its line: what was answered before is above it.
const sentinel = "/version?audit-mark="

// readAudit returns the lines after a mark and the offset of their end.
func (c *Cluster) readAudit(ctx context.Context, since Mark) (lines []byte, end int64, err error) {
	client, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		return nil, 0, fmt.Errorf("make a client: %w", err)
	}
	uri := sentinel + rand.String(16)
	if err := ask(ctx, client.RESTClient(), uri); err != nil {
		return nil, 0, fmt.Errorf("mark the audit log: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err = wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) {
		data, err := readFrom(c.auditLog, since.offset)
		if err != nil {
			return false, err
		}
		at := bytes.Index(data, []byte(uri))
		if at < 0 {
			return false, nil
		}
		length := bytes.IndexByte(data[at:], '\n')
		if length < 0 {
			return false, nil
		}
		lines = data[:at+length+1]
		return true, nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("wait for the mark in the audit log: %w", err)
	}
	return lines, since.offset + int64(len(lines)), nil
}

func ask(ctx context.Context, client rest.Interface, uri string) error {
	return client.Get().RequestURI(uri).Do(ctx).Error()
}

func readFrom(path string, offset int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(file)
}

func parseEvent(line []byte) (Event, error) {
	type user struct {
		Username string `json:"username"`
	}
	var raw struct {
		Stage            string `json:"stage"`
		Verb             string `json:"verb"`
		User             user   `json:"user"`
		ImpersonatedUser *user  `json:"impersonatedUser"`
		UserAgent        string `json:"userAgent"`
		RequestURI       string `json:"requestURI"`
		ObjectRef        struct {
			Resource    string `json:"resource"`
			Subresource string `json:"subresource"`
			Namespace   string `json:"namespace"`
			Name        string `json:"name"`
		} `json:"objectRef"`
		ResponseStatus struct {
			Code int `json:"code"`
		} `json:"responseStatus"`
		RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
		StageTimestamp           time.Time `json:"stageTimestamp"`
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		return Event{}, fmt.Errorf("read a line of the audit log: %w: %s", err, line)
	}
	if raw.ImpersonatedUser != nil {
		raw.User = *raw.ImpersonatedUser
	}
	return Event{
		Stage:       raw.Stage,
		Verb:        raw.Verb,
		User:        raw.User.Username,
		UserAgent:   raw.UserAgent,
		Resource:    raw.ObjectRef.Resource,
		Subresource: raw.ObjectRef.Subresource,
		Namespace:   raw.ObjectRef.Namespace,
		Name:        raw.ObjectRef.Name,
		URI:         raw.RequestURI,
		Code:        raw.ResponseStatus.Code,
		Time:        raw.RequestReceivedTimestamp,
		Latency:     raw.StageTimestamp.Sub(raw.RequestReceivedTimestamp),
	}, nil
}
