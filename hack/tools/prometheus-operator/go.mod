module ydzs.io/myapp-operator/hack/tools/prometheus-operator

go 1.26.0

// Nothing is built from this module: it pins where the CRD of ServiceMonitors is read from. The tool is only what keeps
// the requirement tidy, the smallest package that the module has.
tool github.com/prometheus-operator/prometheus-operator/example/alertmanager-webhook

require github.com/prometheus-operator/prometheus-operator v0.85.0 // indirect
