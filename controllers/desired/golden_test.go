package desired

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Every file of testdata is a MyApp and, after it, its children as they are rendered.
//
// A change of a pod template here restarts every application of that shape when the operator is upgraded: regenerate with
// `go test ./controllers/desired -update` only where that is meant, and say so in the release notes.
func TestGoldenChildren(t *testing.T) {
	for name, app := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			file := "testdata/" + name + ".yaml"
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			input, _, _ := strings.Cut(string(raw), separator)
			var got bytes.Buffer
			got.WriteString(input)
			for _, c := range children(app) {
				got.WriteString(separator + yamlOf(t, c.intent))
			}
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(raw), "\n"), strings.Split(got.String(), "\n")); diff != "" {
				t.Errorf("an upgrade would change the children of this MyApp; a changed pod template restarts its pods (-before +after):\n%s", diff)
			}
		})
	}
}
