package desired

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// variables renders the container's variables as "NAME=value", in order.
func variables(t testing.TB, spec string) []string {
	t.Helper()
	var all []string
	for _, e := range containerOf(myApp(t, spec)).Env {
		all = append(all, *e.Name+"="+ptrDeref(e.Value))
	}
	return all
}

func TestE01TheLastOfOneNameCountsAndOneStays(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		want []string
	}{
		"twice the same":     {"envs: [{name: MODE, value: qa}, {name: REGION, value: eu}, {name: MODE, value: qa}]", []string{"REGION=eu", "MODE=qa"}},
		"two values":         {"envs: [{name: MODE, value: qa}, {name: MODE, value: prod}]", []string{"MODE=prod"}},
		"three times":        {"envs: [{name: A, value: '1'}, {name: A, value: '2'}, {name: B}, {name: A, value: '3'}]", []string{"B=", "A=3"}},
		"after the clean-up": {"envs: [{name: MODE, value: qa}, {name: REGION, value: eu}]", []string{"MODE=qa", "REGION=eu"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, variables(t, c.spec)); diff != "" {
				t.Errorf("the container's variables (-want +got):\n%s", diff)
			}
		})
	}
}

// The operator injects no variable of its own, so none of the user's can come too early to refer to one.
func TestE04OrderIsKeptAndNothingIsInjected(t *testing.T) {
	const zone, address, last = "{name: ZONE, value: b}", "{name: ADDR, value: 'host-$(ZONE)'}", "{name: A_LAST, value: '$(ADDR):80'}"
	for _, order := range [][]string{{zone, address, last}, {address, zone, last}, {last, address, zone}} {
		var want []string
		for _, e := range order {
			name, value, _ := strings.Cut(strings.Trim(e, "{}"), ", value: ")
			want = append(want, strings.TrimPrefix(name, "name: ")+"="+strings.Trim(value, "'"))
		}
		if diff := cmp.Diff(want, variables(t, "envs: ["+strings.Join(order, ", ")+"]")); diff != "" {
			t.Errorf("a variable that refers to an earlier one breaks (-want +got):\n%s", diff)
		}
	}
	if got := variables(t, ""); len(got) > 0 {
		t.Errorf("variables that nobody asked for: %v", got)
	}
}

func TestE08QuotedNumbersStayText(t *testing.T) {
	want := []string{"PORT=8080", "VER=1.10", "ON=true", "OCTAL=010", "EXP=1e3"}
	got := variables(t, `envs: [{name: PORT, value: "8080"}, {name: VER, value: "1.10"}, {name: "ON", value: "true"}, {name: OCTAL, value: "010"}, {name: EXP, value: "1e3"}]`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the container's variables (-want +got):\n%s", diff)
	}
}

func TestM02ImagesArePassedOnByteForByte(t *testing.T) {
	const hex = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for _, image := range []string{
		"nginx", "nginx:1.7.9", "registry.example.com:5000/team/web", "[2001:db8::1]:5000/team/web:1.2", "registry.example.com/team/web:RC1",
		"registry.example.com/team/web:1.4@sha256:" + hex, "web@sha512:" + hex + hex, "docker.io/library/nginx:latest",
	} {
		if got := *containerOf(myApp(t, "image: '"+image+"'")).Image; got != image {
			t.Errorf("%s becomes %s", image, got)
		}
	}
}
