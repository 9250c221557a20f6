// Renders the chart of deploy/helm as Helm does, with the template engine and the functions that Helm is made
// of, both from Debian. Prints the values and the manifests as JSON. Usage: render CHART RELEASE VALUES
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type table = map[string]interface{}

func main() {
	chart, release := os.Args[1], os.Args[2]
	values := merged(read(filepath.Join(chart, "values.yaml")), parsed([]byte(os.Args[3])))
	about := read(filepath.Join(chart, "Chart.yaml"))
	scope := table{
		"Values":  values,
		"Release": table{"Name": release, "Namespace": "sales", "Service": "Helm"},
		"Chart":   table{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
	}
	// A key that is not there is nil, and not an error, as in Helm.
	root := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := root.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	root.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err)
		_, err = root.New(filepath.Base(file)).Parse(string(text))
		check(err)
	}
	manifests, notes := []table{}, ""
	for _, file := range files {
		var text strings.Builder
		check(root.ExecuteTemplate(&text, filepath.Base(file), scope))
		if filepath.Base(file) == "NOTES.txt" {
			notes = text.String()
			continue
		}
		for _, part := range strings.Split("\n"+text.String(), "\n---") {
			if strings.TrimSpace(part) != "" {
				manifests = append(manifests, parsed([]byte(part)))
			}
		}
	}
	check(json.NewEncoder(os.Stdout).Encode(table{"values": values, "manifests": manifests, "notes": notes}))
}

func read(file string) table {
	text, err := os.ReadFile(file)
	check(err)
	return parsed(text)
}

// A key that comes twice in a manifest is an error.
func parsed(text []byte) table {
	found := table{}
	check(yaml.UnmarshalStrict(text, &found))
	return found
}

func merged(below, above table) table {
	for name, value := range above {
		inner, isTable := value.(table)
		base, isBase := below[name].(table)
		if isTable && isBase {
			value = merged(base, inner)
		}
		below[name] = value
	}
	return below
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
