package webhooks

import (
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
)

// largeSpec is a MyApp with as many entries as a real one may grow to.
func largeSpec() string {
	var envs, ports []string
	for i := range 200 {
		envs = append(envs, fmt.Sprintf(`{name: VAR_%d, value: "%d"}`, i, i))
	}
	for i := range 100 {
		ports = append(ports, fmt.Sprintf(`{name: port-%d, port: %d}`, i, i+1))
	}
	return `{image: "registry.example.com/team/web:1.0", envs: [` + strings.Join(envs, ", ") + `], ports: [` + strings.Join(ports, ", ") + `]}`
}

func benchmarkSpecs() map[string]string {
	return map[string]string{
		"small": `{image: "nginx:1.7.9", size: 2, ports: [{port: 80, targetPort: 80, nodePort: 30002}]}`,
		"large": largeSpec(),
	}
}

func BenchmarkMutate(b *testing.B) {
	for name, spec := range benchmarkSpecs() {
		b.Run(name, func(b *testing.B) {
			m, raw := newMutator(b), object(b, `{name: shop}`, spec)
			b.ReportAllocs()
			for b.Loop() {
				m.send(b, admissionv1.Create, raw)
			}
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	for name, spec := range benchmarkSpecs() {
		b.Run(name, func(b *testing.B) {
			review, raw := reviewer(b, Options{}), object(b, `{name: shop}`, spec)
			b.ReportAllocs()
			for b.Loop() {
				review(admissionv1.Update, raw, raw)
			}
		})
	}
}
