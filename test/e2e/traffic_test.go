//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// perSecond is the rate of requests and of admission calls.
const perSecond = 50

// stream makes calls at a steady rate, whatever each takes, and remembers those that failed.
type stream struct {
	cancel context.CancelFunc
	calls  sync.WaitGroup

	mu     sync.Mutex
	made   int
	failed []string
}

// startStream makes calls, so many a second, until it is stopped.
func startStream(rate int, call func(context.Context) error) *stream {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stream{cancel: cancel}
	s.calls.Go(func() {
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				// One that has begun is answered, also when the stream ends.
				s.calls.Go(func() { s.count(now, call(context.Background())) })
			}
		}
	})
	return s
}

func (s *stream) count(at time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	if err != nil {
		s.failed = append(s.failed, fmt.Sprintf("%s: %v", at.Format(time.RFC3339Nano), err))
	}
}

// failures are those so far.
func (s *stream) failures() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.failed)
}

// stop ends the stream and returns how many calls were made and the failures.
func (s *stream) stop() (made int, failed []string) {
	s.cancel()
	s.calls.Wait()
	return s.made, s.failed
}

// fresh is a client without connections that last: every request is sent where the Service sends a newcomer.
var fresh = &http.Client{
	Transport: &http.Transport{DisableKeepAlives: true},
	Timeout:   10 * time.Second,
}

// fetch returns what an address answers.
func fetch(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := fresh.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s", response.Status)
	}
	return string(body), err
}
