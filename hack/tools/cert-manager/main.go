// Command cert-manager runs cert-manager's own controllers for Certificates that an Issuer or ClusterIssuer of type
// selfSigned or ca signs, and its CA injector for webhook configurations. cert-manager's command is a module that the Go proxy does not serve; its controllers are
// public packages. What a test does not need is left out: the webhook, ACME and other issuers, leader election, metrics.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"

	// Each of these registers a controller, or a type of issuer.
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
)

// workers is the number of objects that one controller works on at once.
const workers = 2

func main() {
	// A set of its own: the injector's library puts a --kubeconfig into the usual one.
	flags := flag.NewFlagSet(os.Args[0], flag.ExitOnError)
	klog.InitFlags(flags)
	// The level at which cert-manager tells what it does.
	_ = flags.Set("v", "2")
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig file of the cluster")
	namespace := flags.String("cluster-resource-namespace", "cert-manager", "namespace of the Secrets that ClusterIssuers refer to")
	_ = flags.Parse(os.Args[1:])

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, options(*kubeconfig, *namespace)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func options(kubeconfig, namespace string) controller.ContextOptions {
	return controller.ContextOptions{
		Kubeconfig:    kubeconfig,
		IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: namespace},
		CertificateOptions: controller.CertificateOptions{
			// cert-manager's defaults: an hour after the first failure, at most 32.
			CertificateRequestMinimumBackoffDuration: time.Hour,
			CertificateRequestMaximumBackoffDuration: 32 * time.Hour,
		},
	}
}

// run runs every controller that was registered until the context ends.
func run(ctx context.Context, opts controller.ContextOptions) error {
	factory, err := controller.NewContextFactory(ctx, opts)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	shared, err := factory.Build()
	if err != nil {
		return fmt.Errorf("make clients: %w", err)
	}
	injector, err := newInjector(ctx, opts.Kubeconfig)
	if err != nil {
		return fmt.Errorf("set up the CA injector: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := injector.Start(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("run the CA injector: %w", err)
		}
		return nil
	})
	for name, build := range controller.Known() {
		c, err := build(factory)
		if err != nil {
			return fmt.Errorf("set up controller %s: %w", name, err)
		}
		group.Go(func() error {
			// Being told to stop while it still waits for its caches is no error.
			if err := c.Run(workers, ctx); err != nil && ctx.Err() == nil {
				return fmt.Errorf("run controller %s: %w", name, err)
			}
			return nil
		})
	}
	// The controllers have said by now what they watch.
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	shared.SharedInformerFactory.WaitForCacheSync(ctx.Done())
	shared.KubeSharedInformerFactory.WaitForCacheSync(ctx.Done())
	if ctx.Err() == nil {
		klog.InfoS("cert-manager runs", "controllers", len(controller.Known()))
	}
	return group.Wait()
}
