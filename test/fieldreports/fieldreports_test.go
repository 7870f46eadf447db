// Package fieldreports holds docs/field-reports.md to what it says: every field report is shown by tests that exist and
// carry its id, or stands among the exceptions with a reason; and of every hard one a mutant is there that puts the fault
// back (make mutants).
package fieldreports

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ydzs.io/myapp-operator/test/cluster"
)

// reports are the ids of all field reports.
var reports = []string{
	"C01", "C03", "C05", "C06", "C08", "C09", "C10", "C11",
	"E01", "E04", "E06", "E07", "E08",
	"F01", "F02", "F05", "F06",
	"G01", "G03", "G04",
	"M01", "M02", "M04",
	"N01", "N02",
	"O01", "O02", "O04", "O06", "O07", "O08", "O09", "O10", "O11",
	"P01", "P02", "P03", "P04", "P07", "P09",
	"Q01", "Q03", "Q04", "Q06",
	"S01", "S03", "S04", "S06", "S07",
	"T01", "T04", "T06",
	"W01", "W03", "W04", "W05", "W06", "W08", "W09", "W10",
	"X02",
	"Z01", "Z02", "Z03", "Z05", "Z07", "Z09",
}

// hard are those that a mutant has to stand for.
var hard = []string{"C11", "E01", "F01", "F05", "P01", "P03", "Q01", "S01", "W01", "W03", "Z02", "Z07"}

// report is a row of the first table.
type report struct {
	id, category, fault, decision string
	// tests are "path: name".
	tests []string
}

// document is what docs/field-reports.md says.
type document struct {
	reports []report
	// exceptions are the reasons by id.
	exceptions map[string]string
}

var (
	row  = regexp.MustCompile(`^\| ([A-Z]\d{2}) \|(.*)\|$`)
	code = regexp.MustCompile("`([^`]+)`")
)

func readDocument(t *testing.T, root string) document {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "docs", "field-reports.md"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := parseDocument(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func parseDocument(text string) (document, error) {
	d := document{exceptions: map[string]string{}}
	for _, line := range strings.Split(text, "\n") {
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var cells []string
		for _, cell := range strings.Split(m[2], "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		switch len(cells) {
		case 4:
			r := report{id: m[1], category: cells[0], fault: cells[1], decision: cells[2]}
			for _, c := range code.FindAllStringSubmatch(cells[3], -1) {
				r.tests = append(r.tests, c[1])
			}
			d.reports = append(d.reports, r)
		case 1:
			d.exceptions[m[1]] = cells[0]
		default:
			return d, fmt.Errorf("a row of %d cells: %s", len(cells)+1, line)
		}
	}
	return d, nil
}

func TestEveryReportIsShownOrExcepted(t *testing.T) {
	if !slices.IsSorted(reports) || len(slices.Compact(slices.Clone(reports))) != 67 {
		t.Errorf("there are 67 field reports, sorted; here are %d", len(reports))
	}
	d := readDocument(t, root(t))
	shown := map[string]bool{}
	for _, r := range d.reports {
		if shown[r.id] {
			t.Errorf("%s stands twice in the table", r.id)
		}
		shown[r.id] = true
		if r.category == "" || r.fault == "" {
			t.Errorf("%s: the row has gaps", r.id)
		}
		if len(r.tests) == 0 {
			t.Errorf("%s names no test", r.id)
		}
	}
	for id, reason := range d.exceptions {
		shown[id] = true
		if len(strings.Fields(reason)) < 4 {
			t.Errorf("%s is excepted without a reason: %q", id, reason)
		}
	}
	for _, id := range reports {
		if !shown[id] {
			t.Errorf("%s has neither a test nor an exception", id)
		}
	}
	for id := range shown {
		if !slices.Contains(reports, id) {
			t.Errorf("%s is no field report", id)
		}
	}
}

func TestEveryNamedTestExists(t *testing.T) {
	top := root(t)
	for _, r := range readDocument(t, top).reports {
		for _, name := range r.tests {
			if err := exists(top, r.id, name); err != nil {
				t.Errorf("%s: %s: %v", r.id, name, err)
			}
		}
	}
}

// exists tells whether "path: name" is a test: name is a function's or a text in the file that names one, or both with a
// slash between, and carries the id.
func exists(top, id, named string) error {
	path, name, ok := strings.Cut(named, ": ")
	if !ok || !strings.HasSuffix(path, "_test.go") {
		return fmt.Errorf("want PATH_test.go: NAME")
	}
	if !strings.Contains(name, id) {
		return fmt.Errorf("the name does not carry the id")
	}
	names, err := testNames(filepath.Join(top, filepath.FromSlash(path)))
	if err != nil {
		return err
	}
	for _, part := range append([]string{name}, strings.SplitN(name, "/", 2)...) {
		if !names[part] {
			continue
		}
		if part == name || names[strings.TrimPrefix(name, part+"/")] {
			return nil
		}
	}
	return fmt.Errorf("there is no such test")
}

// testNames are the names of the test functions of a file and every text in it, among them those of subtests and specs.
func testNames(path string) (map[string]bool, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && strings.HasPrefix(n.Name.Name, "Test") {
				names[n.Name.Name] = true
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				names[strings.TrimSpace(text)] = true
			}
		}
		return true
	})
	return names, nil
}

func TestEveryHardReportHasAMutant(t *testing.T) {
	for _, id := range hard {
		raw, err := os.ReadFile(filepath.Join(root(t), "test", "mutants", id+".patch"))
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if !strings.HasPrefix(string(raw), "# "+id+": ") || !strings.Contains(string(raw), "\n# test: go test ./") {
			t.Errorf("%s.patch does not begin with what is wrong and with the tests that notice it", id)
		}
		for _, line := range strings.Split(string(raw), "\n") {
			if path, ok := strings.CutPrefix(line, "+++ b/"); ok && (strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "test/")) {
				t.Errorf("%s.patch changes a test: %s", id, path)
			}
		}
	}
}

// The checks above must be able to fail.
func TestChecksFindFaults(t *testing.T) {
	if _, err := parseDocument("| P01 | a | b |"); err == nil {
		t.Error("a row with too few cells is taken")
	}
	d, err := parseDocument("| P01 | ports | fault | | `a_test.go: P01 x`<br>`b_test.go: P01 y` |\n| W05 | a reason of four words |")
	if err != nil || len(d.reports) != 1 || len(d.reports[0].tests) != 2 || d.exceptions["W05"] == "" {
		t.Errorf("got %+v, %v", d, err)
	}
	const here = "test/fieldreports/fieldreports_test.go"
	for named, want := range map[string]bool{
		here + ": P01 x in a text":                      true,
		here + ": P99 that nobody wrote down":           false,
		here + ": TestChecksFindFaults":                 false,
		here + ": TestChecksFindFaults/P01 x in a":      false,
		here + ": TestChecksFindFaults/P01 x in a text": true,
		here + ": TestNobody/P01 x in a text":           false,
		"test/fieldreports/none_test.go: P01 x":         false,
		"P01 x in a text":                               false,
	} {
		if err := exists(root(t), "P01", named); (err == nil) != want {
			t.Errorf("%s: %v", named, err)
		}
	}
	_ = "P01 x in a text"
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := cluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
