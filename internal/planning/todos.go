package planning

import "slices"

// applyTodos is write_todos: the model owns the list, the server only repairs
// it (docs/planning.md, 'classic').
func applyTodos(s State, in value, l Limits) Result {
	todos, err := readTodos(in, s.Plan.Stages, l)
	if err != nil {
		return failed(s, err)
	}
	focus, err := in.optional("focus")
	if err == nil {
		err = checkChars("focus", "focus", focus, l.FocusChars)
	}
	if err != nil {
		return failed(s, err)
	}
	note, err := in.optional("note")
	if err == nil {
		err = checkChars("note", "note", note, l.NoteChars)
	}
	if err != nil {
		return failed(s, err)
	}
	merged := Merge(s.Plan.Stages, todos)
	if err := checkSettled("todos", s.Plan.Stages, merged, l); err != nil {
		return failed(s, err)
	}
	res := accepted(s, Plan{Stages: merged})
	res.Focus, res.Note = focus, note
	return res
}

// Merge is the classic pipeline on the previous merged list and a submitted
// one: the first of each id, finished items that were left out put back, the
// first pending item promoted, one active item. Both lists stay as they are.
// The result has unique ids and at most one active item, and
// Merge(p, Merge(p, x)) = Merge(Merge(p, x), x) = Merge(p, x).
func Merge(prev, submitted []Stage) []Stage {
	return singleActive(autoPromote(restoreDone(prev, firstOfEach(submitted))))
}

// restoreDone puts every finished item of the previous list that is missing
// right after its nearest earlier neighbour that is there, else at the front.
func restoreDone(prev, list []Stage) []Stage {
	out := slices.Clone(list)
	for i, old := range prev {
		if !old.Status.IsDone() || indexOf(out, old.ID) >= 0 {
			continue
		}
		at := 0
		for j := i - 1; j >= 0; j-- {
			if k := indexOf(out, prev[j].ID); k >= 0 {
				at = k + 1
				break
			}
		}
		out = slices.Insert(out, at, old)
	}
	return out
}

// autoPromote makes the first pending item active where none is and something
// is done. It owns list.
func autoPromote(list []Stage) []Stage {
	first, done := -1, false
	for i, s := range list {
		switch {
		case s.Status.IsActive():
			return list
		case s.Status.IsDone():
			done = true
		case s.Status == Pending && first < 0:
			first = i
		}
	}
	if done && first >= 0 {
		list[first].Status = InProgress
	}
	return list
}

// singleActive keeps the first active item and makes the others pending. It
// owns list.
func singleActive(list []Stage) []Stage {
	active := false
	for i := range list {
		if list[i].Status.IsActive() {
			if active {
				list[i].Status = Pending
			}
			active = true
		}
	}
	return list
}

// readTodos reads the items as sent. Synonyms are mapped, unknown keys ignored,
// everything else is refused with the path of the bad field.
func readTodos(in value, prev []Stage, l Limits) ([]Stage, *ToolError) {
	items, err := in.array("todos")
	if err != nil {
		return nil, err
	}
	if err := checkCount("todos", len(items), len(prev), l); err != nil {
		return nil, err
	}
	var todos []Stage
	for i, item := range items {
		path := indexed("todos", i)
		todo, err := readTodo(item, path)
		if err == nil {
			err = checkStage(path, todo, prev, l)
		}
		if err != nil {
			return nil, err
		}
		todos = append(todos, todo)
	}
	return todos, nil
}

func readTodo(item value, path string) (Stage, *ToolError) {
	if item.kind != kindObject {
		return Stage{}, invalid(path, "%s must be an object with id, content and status, not %s", path, item.kind)
	}
	id, err := item.filled(path, "id")
	if err != nil {
		return Stage{}, err
	}
	content, err := item.filled(path, "content")
	if err != nil {
		return Stage{}, err
	}
	word, err := item.filled(path, "status")
	if err != nil {
		return Stage{}, err
	}
	status, ok := todoStatus(word)
	if !ok {
		return Stage{}, invalid(path+".status", "%s.status is %s; it must be pending, in_progress or done", path, shown(word))
	}
	return Stage{ID: id, Content: content, Status: status}, nil
}

// todoStatus reads a status word and its two documented synonyms.
func todoStatus(word string) (Status, bool) {
	switch word {
	case "pending":
		return Pending, true
	case "in_progress", "in-progress":
		return InProgress, true
	case "done", "completed":
		return Done, true
	}
	return "", false
}
