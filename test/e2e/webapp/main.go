// Command webapp is the application that the end-to-end suites run: it answers every request with its version, and goes
// on answering for a while after it is told to end, until the nodes have learned that its address is no longer one of the
// Service's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	listen := flag.String("listen", ":8080", "address to serve at")
	drain := flag.Duration("drain", 5*time.Second, "how long to go on after SIGTERM")
	exit := flag.Int("exit", -1, "end at once with this exit code")
	flag.Parse()
	if *exit >= 0 {
		os.Exit(*exit)
	}
	if err := serve(*listen, *drain); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(address string, drain time.Duration) error {
	told, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		// Who does not take the answer misses it.
		_, _ = fmt.Fprintln(w, os.Getenv("VERSION"))
	})
	server := &http.Server{Addr: address, Handler: answer, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-told.Done():
	}
	time.Sleep(drain)
	if err := server.Shutdown(context.Background()); err != nil {
		return err
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
