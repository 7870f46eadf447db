package controlplane

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers"
	"ydzs.io/myapp-operator/test/cluster"
)

// lag is how late the operator learns of changes of MyApps.
const lag = 3 * time.Second

// startLate runs the controller in this process, for one namespace, with a watch of MyApps that lags.
func startLate(ctx context.Context, as *rest.Config, ns string) {
	GinkgoHelper()
	as.Wrap(func(next http.RoundTripper) http.RoundTripper { return lateTransport{next} })
	objects := controllers.CacheOptions()
	objects.DefaultNamespaces = map[string]cache.Config{ns: {}}
	reused := true
	mgr, err := ctrl.NewManager(as, ctrl.Options{
		Scheme: cluster.Scheme(), Cache: objects, HealthProbeBindAddress: "0", Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &reused},
	})
	Expect(err).NotTo(HaveOccurred())
	reconciler := &controllers.Reconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder(v1beta1.OperatorName),
	}
	Expect(reconciler.SetupWithManager(mgr, 1)).To(Succeed())
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	DeferCleanup(stop)
	go func() {
		defer GinkgoRecover()
		Expect(mgr.Start(running)).To(Succeed())
	}()
}

// lateTransport delays what a watch of MyApps tells.
type lateTransport struct{ next http.RoundTripper }

func (t lateTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if err == nil && strings.HasSuffix(request.URL.Path, "/myapps") && request.URL.Query().Get("watch") != "" {
		response.Body = delayed(response.Body)
	}
	return response, err
}

type piece struct {
	due   time.Time
	bytes []byte
}

// delayed passes on every piece of a stream when it has grown old enough. Closing the result ends the stream.
func delayed(stream io.ReadCloser) io.ReadCloser {
	reader, writer := io.Pipe()
	pieces := make(chan piece, 1000)
	go func() {
		defer close(pieces)
		for {
			buffer := make([]byte, 32<<10)
			n, err := stream.Read(buffer)
			if n > 0 {
				pieces <- piece{time.Now().Add(lag), buffer[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		defer func() { _ = writer.Close() }()
		for p := range pieces {
			<-time.After(time.Until(p.due))
			if _, err := writer.Write(p.bytes); err != nil {
				_ = stream.Close()
				return
			}
		}
	}()
	return struct {
		io.Reader
		io.Closer
	}{reader, closers{reader, stream}}
}

type closers []io.Closer

func (all closers) Close() error {
	for _, c := range all {
		_ = c.Close()
	}
	return nil
}
