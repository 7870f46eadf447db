package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// loopback is where webhooks are served and called.
const loopback = "127.0.0.1"

// WebhookServing is what a webhook server must use for the API server to reach and to trust it.
type WebhookServing struct {
	Host string
	Port int
	// CertDir holds tls.crt and tls.key.
	CertDir string
}

func (c *Cluster) installWebhooks(ctx context.Context) error {
	ports, err := FreePorts(1)
	if err != nil {
		return err
	}
	authority, err := NewAuthority()
	if err != nil {
		return err
	}
	serving := &WebhookServing{Host: loopback, Port: ports[0], CertDir: filepath.Join(c.Dir, "webhook-certs")}
	if err := authority.WriteServing(serving.CertDir); err != nil {
		return err
	}
	manifest, err := LocalWebhooks(serving.Port, authority.PEM())
	if err != nil {
		return err
	}
	if _, err := c.KubectlStdin(ctx, string(manifest), "apply", "--server-side", "-f", "-"); err != nil {
		return fmt.Errorf("install the webhooks: %w", err)
	}
	c.Webhooks = serving
	return nil
}

// LocalWebhooks returns the generated webhook configurations, with each call to the operator's Service made a call to
// the same path on this machine.
func LocalWebhooks(port int, caPEM []byte) ([]byte, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	manifest, err := os.ReadFile(filepath.Join(root, "config", "webhook", "manifests.yaml"))
	if err != nil {
		return nil, err
	}
	base := "https://" + net.JoinHostPort(loopback, strconv.Itoa(port))
	return redirect(manifest, base, caPEM)
}

func redirect(manifest []byte, base string, caPEM []byte) ([]byte, error) {
	var out bytes.Buffer
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifest)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the webhook manifests: %w", err)
		}
		config := map[string]any{}
		if err := yaml.Unmarshal(document, &config); err != nil {
			return nil, fmt.Errorf("read the webhook manifests: %w", err)
		}
		if len(config) == 0 {
			continue
		}
		if err := redirectOne(config, base, caPEM); err != nil {
			return nil, err
		}
		document, err = yaml.Marshal(config)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(document)
	}
}

func redirectOne(config map[string]any, base string, caPEM []byte) error {
	webhooks, _, err := unstructured.NestedSlice(config, "webhooks")
	if err != nil {
		return err
	}
	for _, entry := range webhooks {
		webhook, ok := entry.(map[string]any)
		if !ok {
			return fmt.Errorf("a webhook that is no object: %v", entry)
		}
		path, _, err := unstructured.NestedString(webhook, "clientConfig", "service", "path")
		if err != nil {
			return err
		}
		webhook["clientConfig"] = map[string]any{
			"url":      base + "/" + strings.TrimPrefix(path, "/"),
			"caBundle": base64.StdEncoding.EncodeToString(caPEM),
		}
	}
	return unstructured.SetNestedSlice(config, webhooks, "webhooks")
}

// FreePorts returns n ports that were free a moment ago. All are held until the last is known, so they differ, and the
// kernel gives them at random: two processes that ask at once hardly ever get the same.
func FreePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	for range n {
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close()
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			return nil, err
		}
		number, err := strconv.Atoi(port)
		if err != nil {
			return nil, err
		}
		ports = append(ports, number)
	}
	return ports, nil
}
