package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	// openshiftVersions says on which releases of OpenShift the community's catalogs offer the bundle: the first is the
	// one that is built on the base's minKubeVersion.
	openshiftVersions = "v4.17"
	// scorecardImage runs the checks below where somebody runs operator-sdk scorecard; the tests here do without.
	scorecardImage = "quay.io/operator-framework/scorecard-test:v1.42.0"
)

// annotations tell OLM's tools where in the image is what. The image's labels are the same.
func annotations(r release) map[string]string {
	const prefix = "operators.operatorframework.io."
	return map[string]string{
		prefix + "bundle.mediatype.v1":       "registry+v1",
		prefix + "bundle.manifests.v1":       "manifests/",
		prefix + "bundle.metadata.v1":        "metadata/",
		prefix + "bundle.package.v1":         packageName,
		prefix + "bundle.channels.v1":        r.channel,
		prefix + "bundle.channel.default.v1": r.channel,
		prefix + "test.mediatype.v1":         "scorecard+v1",
		prefix + "test.config.v1":            "tests/scorecard/",
		"com.redhat.openshift.versions":      openshiftVersions,
	}
}

// metadata are the files beside the manifests.
func metadata(r release) (map[string][]byte, error) {
	notes, err := yaml.Marshal(map[string]any{"annotations": annotations(r)})
	if err != nil {
		return nil, err
	}
	checks, err := yaml.Marshal(scorecard())
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"bundle.Dockerfile": []byte(dockerfile(r)),
		filepath.Join("bundle", "metadata", "annotations.yaml"):      notes,
		filepath.Join("bundle", "tests", "scorecard", "config.yaml"): checks,
	}, nil
}

func dockerfile(r release) string {
	var b strings.Builder
	b.WriteString("# The image of the bundle: data only. Written by \"make bundle\".\nFROM scratch\n\n")
	labels := annotations(r)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&b, "LABEL %s=%s\n", key, labels[key])
	}
	b.WriteString("\nCOPY bundle/manifests /manifests/\nCOPY bundle/metadata /metadata/\nCOPY bundle/tests/scorecard /tests/scorecard/\n")
	return b.String()
}

// scorecard is the configuration of the six checks that operator-sdk brings.
func scorecard() map[string]any {
	check := func(suite, name string) map[string]any {
		return map[string]any{
			"image":      scorecardImage,
			"entrypoint": []string{"scorecard-test", name},
			"labels":     map[string]string{"suite": suite, "test": name + "-test"},
		}
	}
	return map[string]any{
		"apiVersion": "scorecard.operatorframework.io/v1alpha3",
		"kind":       "Configuration",
		"metadata":   map[string]string{"name": "config"},
		"stages": []any{map[string]any{"parallel": true, "tests": []any{
			check("basic", "basic-check-spec"),
			check("olm", "olm-bundle-validation"),
			check("olm", "olm-crds-have-validation"),
			check("olm", "olm-crds-have-resources"),
			check("olm", "olm-spec-descriptors"),
			check("olm", "olm-status-descriptors"),
		}}},
	}
}
