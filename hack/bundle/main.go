// Command bundle makes the bundle that OLM installs the operator from: it reads what config/manifests builds and writes
// the manifests, the metadata and the scorecard's configuration, and the Dockerfile of the bundle's image. The same input
// gives the same bytes.
//
//	kustomize build config/manifests | go run ./hack/bundle -version 0.1.0 -image registry.example.com/team/myapp-operator@sha256:…
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// release is what differs between two bundles made from the same configuration.
type release struct {
	// version of the operator and of the bundle, as 0.1.0.
	version string
	// image of the operator; a tag can be moved, so a bundle that is published names a digest.
	image string
	// replaces is the version before this one in the channel; empty for the first.
	replaces string
	// channel that the bundle is for, and the package's default.
	channel string
	// icon is an SVG.
	icon []byte
}

func main() {
	var r release
	flag.StringVar(&r.version, "version", "", "version of the operator, as 0.1.0")
	flag.StringVar(&r.image, "image", "", "image of the operator")
	flag.StringVar(&r.replaces, "replaces", "", "version that this one replaces; none by default")
	flag.StringVar(&r.channel, "channel", "stable-v0", "channel of the catalog")
	icon := flag.String("icon", "config/manifests/icon.svg", "the operator's icon")
	out := flag.String("out", ".", "directory that gets bundle/ and bundle.Dockerfile")
	flag.Parse()
	var err error
	if r.icon, err = os.ReadFile(*icon); err == nil {
		err = run(os.Stdin, r, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hack/bundle:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, r release, out string) error {
	if r.version == "" || r.image == "" {
		return fmt.Errorf("-version and -image are needed")
	}
	input, err := read(in)
	if err != nil {
		return err
	}
	files, err := input.bundle(r)
	if err != nil {
		return err
	}
	// What an earlier version wrote and this one does not would still be part of the bundle.
	if err := os.RemoveAll(filepath.Join(out, "bundle")); err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// bundle is every file, by its path.
func (in *input) bundle(r release) (map[string][]byte, error) {
	csv, err := in.clusterServiceVersion(r)
	if err != nil {
		return nil, err
	}
	files, err := metadata(r)
	if err != nil {
		return nil, err
	}
	manifests := append(in.copied(), csv)
	for _, object := range manifests {
		raw, err := render(object)
		if err != nil {
			return nil, err
		}
		files[filepath.Join("bundle", "manifests", fileName(object))] = raw
	}
	return files, nil
}
