package node

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Images builds images with buildah and pushes them to a registry.
type Images struct {
	// Dir is a directory for what is on the way into an image.
	Dir string
	// Registry is what names begin with: host:port, and a path if need be. On loopback it is spoken to with plain HTTP.
	Registry string
}

// Env is the environment in which buildah, called by others too, works here: without a daemon or a union filesystem, with
// a storage of its own, and with plain HTTP for the registry if that is on loopback.
func (i Images) Env() ([]string, error) {
	registries, storage := filepath.Join(i.Dir, "registries.conf"), filepath.Join(i.Dir, "storage.conf")
	local := strings.HasPrefix(i.Registry, loopback+":")
	for path, text := range map[string]string{
		registries: fmt.Sprintf("[[registry]]\nlocation = %q\ninsecure = %t\n", i.Registry, local),
		storage: fmt.Sprintf("[storage]\ndriver = \"vfs\"\ngraphroot = %q\nrunroot = %q\n",
			filepath.Join(i.Dir, "images"), filepath.Join(i.Dir, "images-run")),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return append(os.Environ(),
		"BUILDAH_ISOLATION=chroot", "CONTAINERS_REGISTRIES_CONF="+registries, "CONTAINERS_STORAGE_CONF="+storage), nil
}

// Build builds an image without a base from files, by their paths in it, and pushes it as name:tag. It returns the
// reference that pods use. The files must be static binaries or data; config are instructions of a Dockerfile.
func (i Images) Build(ctx context.Context, image string, files map[string]string, config ...string) (string, error) {
	dir, err := os.MkdirTemp(i.Dir, "image-")
	if err != nil {
		return "", err
	}
	lines := []string{"FROM scratch"}
	for n, target := range slices.Sorted(maps.Keys(files)) {
		file := fmt.Sprintf("file-%d", n)
		if err := run(ctx, "cp", "--recursive", "--dereference", files[target], filepath.Join(dir, file)); err != nil {
			return "", err
		}
		lines = append(lines, "COPY "+file+" "+target)
	}
	text := strings.Join(append(lines, config...), "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(text), 0o644); err != nil {
		return "", err
	}
	reference := i.Registry + "/" + image
	for _, args := range [][]string{{"build", "--quiet", "--tag", reference, dir}, {"push", "--quiet", reference}} {
		if err := i.buildah(ctx, args...); err != nil {
			return "", fmt.Errorf("make image %s: %w", image, err)
		}
	}
	return reference, nil
}

func (i Images) buildah(ctx context.Context, args ...string) error {
	env, err := i.Env()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "buildah", args...)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("buildah %s: %w: %s", args[0], err, out)
	}
	return nil
}

// BuildCommand builds the command in a directory of this repository, and an image of it and nothing else that is run as
// nobody; see Build.
func (i Images) BuildCommand(ctx context.Context, dir, image string) (string, error) {
	name := filepath.Base(dir)
	binary := filepath.Join(i.Dir, name+"-command")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", dir, err, out)
	}
	return i.Build(ctx, image, map[string]string{"/" + name: binary}, "USER 65534:65534", `ENTRYPOINT ["/`+name+`"]`)
}
