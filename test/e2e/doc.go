// Package e2e tests the operator as its users run it: its own image on a real node, installed with kubectl and
// cert-manager or by OLM from a catalog, with applications that are really pulled, started and called. hack/e2e.sh runs
// it; the build tag e2e keeps it out of all other runs.
package e2e
