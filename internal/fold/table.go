package fold

import "strings"

// delimiters is the number of columns of a table's delimiter row, 0 where the
// line is none.
func delimiters(line string) int {
	c := cursor{line: line}
	if width, _ := c.indent(); width > 3 {
		return 0
	}
	if strings.Trim(line, "-") == "" || strings.Trim(line, "-:| \t\r\v\f") != "" {
		return 0
	}
	columns := strings.Split(line, "|")
	if blank(columns[0]) {
		columns = columns[1:]
	}
	if n := len(columns); n > 0 && blank(columns[n-1]) {
		columns = columns[:n-1]
	}
	for _, column := range columns {
		s := strings.TrimSpace(column)
		s = strings.TrimPrefix(s, ":")
		s = strings.TrimSuffix(s, ":")
		if s == "" || strings.Trim(s, "-") != "" {
			return 0
		}
	}
	return len(columns)
}

// cells is the number of cells of a table's row.
func cells(line string) int {
	s := strings.TrimSpace(line)
	s = strings.TrimPrefix(s, "|")
	s = strings.TrimSuffix(s, "|")
	if s == "" {
		return 0
	}
	n := 1
	for i := range len(s) {
		if s[i] == '|' && (i == 0 || s[i-1] != '\\') {
			n++
		}
	}
	return n
}
