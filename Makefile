# Everything a contributor or a platform team does with this repository. It needs Go, make and git; the other tools are
# Go modules pinned under hack/tools, built once into a cache by hack/tool.sh.

# Version of the operator, and the image that docker-build makes, deploy installs and the bundle names. A bundle that is
# published names it by digest.
VERSION ?= 0.1.0
REGISTRY ?= registry.ydzs.io
IMG ?= $(REGISTRY)/myapp-operator:$(VERSION)
# The images of the bundle and of the catalog.
BUNDLE_IMG ?= $(REGISTRY)/myapp-operator-bundle:$(VERSION)
CATALOG_IMG ?= $(REGISTRY)/myapp-operator-catalog:$(VERSION)
# The channel that the bundle is for, and the version before it there; none for the first.
CHANNEL ?= stable-v0
REPLACES ?=
# Where bundle writes bundle/ and bundle.Dockerfile, and bundle-build reads them.
BUNDLE_DIR ?= .
# Where the package and its channels are written down, and the images of the bundles that the channels name.
CATALOG ?= config/catalog
BUNDLE_IMGS ?= $(BUNDLE_IMG)
# More arguments for opm render: --use-http, …
OPM_RENDER_ARGS ?=
# What deploy installs: default, which needs cert-manager, or without-webhooks.
CONFIG ?= default
# Builds and pushes images: docker, podman or buildah.
CONTAINER_TOOL ?= docker
# More arguments for it: --build-arg BASE_IMAGE=scratch, …
DOCKER_BUILD_ARGS ?=
# The kubectl of install, deploy and their opposites: yours, or the pinned one if you have none.
KUBECTL ?= $(shell command -v kubectl || hack/tool.sh kubectl)
# Arguments for the operator that run starts.
ARGS ?=
# Architecture of the image that docker-build makes: amd64 or arm64.
ARCH ?= $(shell go env GOARCH)
# More arguments for go test: TESTFLAGS="-run TestX -v".
TESTFLAGS ?=
# The mutants that mutants tries, by id: MUTANTS="P01 C11"; all when empty.
MUTANTS ?=

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

ARCHITECTURES := amd64 arm64
CONTROL_PLANE := etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok kwokctl cert-manager
CRD := config/crd/bases/app.ydzs.io_myapps.yaml
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"

.DEFAULT_GOAL := help

##@ Everyday

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*## "; print "Usage: make <target>"} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z0-9-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: manager ## Show the operator at work on a real control plane with fake nodes, on this machine.
	@go run ./hack/demo demo

.PHONY: demo-down
demo-down: ## Stop what demo started.
	@go run ./hack/demo demo-down

.PHONY: cluster-up
cluster-up: ## Start the demo's cluster without the operator, and say how to use it.
	@go run ./hack/demo cluster-up

.PHONY: cluster-down
cluster-down: ## Stop what cluster-up started.
	@go run ./hack/demo cluster-down

.PHONY: test
test: ## Run all tests: pure ones, on a real API server, and on a full control plane.
	hack/tool.sh $(CONTROL_PLANE) >/dev/null
	go test -p 2 -timeout 30m $(TESTFLAGS) ./...

.PHONY: test-e2e
test-e2e: ## Run the end-to-end tests: on a real node made here (Linux, root), or in the cluster of KUBECONFIG.
	hack/e2e.sh

.PHONY: mutants
mutants: ## Put the worst faults of the field reports back, one at a time, and show that a test notices each.
	hack/tool.sh $(CONTROL_PLANE) >/dev/null
	hack/mutants.sh $(MUTANTS)

.PHONY: lint
lint: ## Run the linter.
	"$$(hack/tool.sh golangci-lint)" run ./...
	! git grep -nE '(nolint|revive:disable).*(cyclop|funlen|file-length)' -- '*.go' || { echo "limits of size have no exceptions"; exit 1; }

.PHONY: fmt
fmt: ## Format the Go code.
	"$$(hack/tool.sh golangci-lint)" fmt

.PHONY: verify
verify: ## Check that generated files are up to date, modules tidy, and the code formatted and vetted.
	hack/verify.sh

##@ Code

.PHONY: generate
generate: ## Generate the DeepCopy methods of the API.
	"$$(hack/tool.sh controller-gen)" object paths=./api/...

.PHONY: manifests
manifests: ## Generate the CRD, the operator's role and the webhook configurations.
	gen=$$(hack/tool.sh controller-gen); tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	"$$gen" crd:maxDescLen=100000 paths=./api/... output:crd:dir="$$tmp"; \
	go run ./hack/crd -in "$$tmp" -out $(CRD); \
	"$$gen" rbac:roleName=myapp-operator-manager paths=./controllers/... output:rbac:dir=config/rbac; \
	"$$gen" webhook paths=./webhooks/... output:webhook:dir=config/webhook

.PHONY: manager
manager: ## Build the operator for this machine: bin/manager.
	$(GO_BUILD) -o bin/manager .

.PHONY: build
build: manager ## Build the operator for this machine and for the images.
	for arch in $(ARCHITECTURES); do GOOS=linux GOARCH=$$arch $(GO_BUILD) -o bin/linux/$$arch/manager .; done

.PHONY: run
run: ## Run the operator on this machine against your kubeconfig; ENABLE_WEBHOOKS=true needs certificates.
	ENABLE_WEBHOOKS=$${ENABLE_WEBHOOKS:-false} go run -ldflags "-X main.version=$(VERSION)" . \
	  --metrics-bind-address=0 --health-probe-bind-address=127.0.0.1:8081 --log-format=console $(ARGS)

##@ Install

.PHONY: install
install: ## Install the CRD into the cluster of your kubeconfig.
	"$$(hack/tool.sh kustomize)" build config/crd | $(KUBECTL) apply --server-side -f -

.PHONY: uninstall
uninstall: ## Remove the CRD, and with it every MyApp.
	"$$(hack/tool.sh kustomize)" build config/crd | $(KUBECTL) delete --ignore-not-found -f -

.PHONY: deploy
deploy: build-installer ## Install the operator with image IMG into the cluster of your kubeconfig.
	$(KUBECTL) apply --server-side -f dist/install.yaml

.PHONY: undeploy
undeploy: build-installer ## Remove every MyApp, then the operator and the CRD.
	$(KUBECTL) delete myapps --all --all-namespaces --ignore-not-found
	$(KUBECTL) delete --ignore-not-found -f dist/install.yaml

# The image is set in an overlay of its own, so that config/ stays as it is committed.
.PHONY: build-installer
build-installer: ## Write everything that deploy installs into dist/install.yaml.
	rm -rf dist/overlay && mkdir -p dist/overlay
	cd dist/overlay && kustomize=$$(../../hack/tool.sh kustomize) && \
	  "$$kustomize" create --resources ../../config/$(CONFIG) && \
	  "$$kustomize" edit set image controller=$(IMG) && \
	  "$$kustomize" build . >../install.yaml

.PHONY: docker-build
docker-build: build ## Build the image IMG for ARCH from the binary that build made.
	$(CONTAINER_TOOL) build --platform linux/$(ARCH) --build-arg TARGETOS=linux --build-arg TARGETARCH=$(ARCH) \
	  $(DOCKER_BUILD_ARGS) -t $(IMG) .

.PHONY: docker-push
docker-push: ## Push the image IMG.
	$(CONTAINER_TOOL) push $(IMG)

##@ OLM

.PHONY: bundle
bundle: ## Write the bundle of version VERSION with image IMG: bundle/ and bundle.Dockerfile.
	"$$(hack/tool.sh kustomize)" build config/manifests | \
	  go run ./hack/bundle -version $(VERSION) -image $(IMG) -channel $(CHANNEL) -replaces "$(REPLACES)" -out $(BUNDLE_DIR)

.PHONY: bundle-build
bundle-build: ## Build the bundle's image BUNDLE_IMG from what bundle wrote.
	$(CONTAINER_TOOL) build -f $(BUNDLE_DIR)/bundle.Dockerfile -t $(BUNDLE_IMG) $(BUNDLE_DIR)

.PHONY: bundle-push
bundle-push: ## Push the bundle's image BUNDLE_IMG.
	$(CONTAINER_TOOL) push $(BUNDLE_IMG)

# A pushed bundle is rendered by its image, the one here by its directory.
.PHONY: catalog
catalog: ## Write the catalog of CATALOG and the pushed bundles BUNDLE_IMGS: dist/catalog.
	opm=$$(hack/tool.sh opm); rm -rf dist/catalog && mkdir -p dist/catalog/myapp-operator; \
	cp $(CATALOG)/*.yaml dist/catalog/myapp-operator/; \
	"$$opm" render $(BUNDLE_IMGS) -o yaml --migrate-level bundle-object-to-csv-metadata $(OPM_RENDER_ARGS) \
	  >dist/catalog/myapp-operator/bundles.yaml

.PHONY: catalog-validate
catalog-validate: ## Check dist/catalog: one head in each channel, a bundle for every entry.
	"$$(hack/tool.sh opm)" validate dist/catalog

.PHONY: catalog-build
catalog-build: catalog catalog-validate ## Build the catalog's image CATALOG_IMG.
	$(CONTAINER_TOOL) build -f catalog.Dockerfile $(DOCKER_BUILD_ARGS) -t $(CATALOG_IMG) .

.PHONY: catalog-push
catalog-push: ## Push the catalog's image CATALOG_IMG.
	$(CONTAINER_TOOL) push $(CATALOG_IMG)
