// Package cluster starts real Kubernetes control planes for tests and for the demo, from the tools pinned under
// hack/tools: an API server with etcd (StartAPIServer), or the full control plane with fake nodes on which pods become
// Ready (StartFull). Neither needs root, a container runtime or the network.
//
// A Ginkgo suite uses it like this:
//
//	var plane *cluster.Cluster
//
//	var _ = BeforeSuite(func() {
//		var err error
//		plane, err = cluster.StartFull(cluster.Options{Nodes: 3, Webhooks: true})
//		Expect(err).NotTo(HaveOccurred())
//		DeferCleanup(plane.Stop)
//
//		operator, err := plane.UserConfig("operator") // no rights but those the suite binds to it
//		Expect(err).NotTo(HaveOccurred())
//		manager, err := ctrl.NewManager(operator, ctrl.Options{WebhookServer: webhook.NewServer(webhook.Options{
//			Host: plane.Webhooks.Host, Port: plane.Webhooks.Port, CertDir: plane.Webhooks.CertDir,
//		})})
//		…
//	})
//
// plane.Config is the administrator's; plane.Kubectl runs the pinned kubectl as the same user. The CRD is installed
// unless Options.WithoutCRD says otherwise. What the operator asked of the server is counted from the audit log:
//
//	mark, err := plane.Mark(ctx)
//	…
//	count, err := plane.Count(ctx, mark, "operator") // map["patch deployments/status"]1
//
// Pods on the fake nodes are steered by annotations on the pods (a MyApp passes spec.podAnnotations on): ReadyAfter,
// ReadyWithin, StopAfter and Fault.
//
// APIs that not every cluster has come and go while it runs: InstallCertManagerCRDs, InstallServiceMonitorCRD, RemoveCRD.
// StartCertManager starts cert-manager's own controllers, which issue what the CA of CreateCAIssuer signs.
//
// Every cluster has ports, directories and credentials of its own, so packages may run at once, and ends with the
// process that started it, however that ends.
package cluster
