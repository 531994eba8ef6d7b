package views

import (
	"net/url"
	"strconv"
)

// Addresses of the pages and of the forms' POSTs. Every form POST answers 204
// to the page's client (header Datastar-Request) and 303 back to everyone else.

// ChatsPath takes POST {planningMode, model}: a new chat.
func ChatsPath() string { return "/chats" }

// ChatPath is a chat's page.
func ChatPath(id string) string { return "/chats/" + url.PathEscape(id) }

// StreamPath is the chat page's event stream.
func StreamPath(id string) string { return ChatPath(id) + "/stream" }

// StreamFrom is StreamPath behind what the page shows: the run and the seq of
// its last entry.
func StreamFrom(chat, run string, seq int64) string {
	return StreamPath(chat) + "?run=" + url.QueryEscape(run) + "&after=" + strconv.FormatInt(seq, 10)
}

// MessagesPath takes POST {id, text}.
func MessagesPath(id string) string { return ChatPath(id) + "/messages" }

// ChatSettingsPath takes POST {planningMode, model}.
func ChatSettingsPath(id string) string { return ChatPath(id) + "/settings" }

// ChatDeletePath takes POST: the chat and its runs go.
func ChatDeletePath(id string) string { return ChatPath(id) + "/delete" }

// QueuePath takes POST {text}: edits a queued message.
func QueuePath(chat, id string) string { return ChatPath(chat) + "/queue/" + url.PathEscape(id) }

// QueueDeletePath takes POST: the queued message is taken back.
func QueueDeletePath(chat, id string) string { return QueuePath(chat, id) + "/delete" }

// QueueSendPath takes POST: a held message is sent.
func QueueSendPath(chat, id string) string { return QueuePath(chat, id) + "/send" }

// RunsPath is the list of runs.
func RunsPath() string { return "/runs" }

// RunPath is a run's review page.
func RunPath(id string) string { return "/runs/" + url.PathEscape(id) }

// StagePath is the fragment of a stage's parts: the inner HTML of its body.
func StagePath(run, key string) string { return RunPath(run) + "/stages/" + url.PathEscape(key) }

// StagePagePath is the review page that shows one stage's parts, page from 1.
func StagePagePath(run, key string, page int) string {
	q := "?stage=" + url.QueryEscape(key)
	if page > 1 {
		q += "&page=" + strconv.Itoa(page)
	}
	return RunPath(run) + q + "#s-" + url.PathEscape(key)
}

// RegionPagePath is the same for a region: lead, sink or answer.
func RegionPagePath(run, region, anchor string, page int) string {
	return RunPath(run) + "?stage=" + url.QueryEscape(region) + "&page=" + strconv.Itoa(page) + "#" + url.PathEscape(anchor)
}

// StopPath, AgainPath and AnswerPath take POSTs about a run; AnswerPath
// {toolCallId, text}.
func StopPath(run string) string   { return RunPath(run) + "/stop" }
func AgainPath(run string) string  { return RunPath(run) + "/again" }
func AnswerPath(run string) string { return RunPath(run) + "/answer" }

// ApprovalPath takes POST {decision: allow|allow-always|deny, reason}.
func ApprovalPath(run, callID string) string {
	return RunPath(run) + "/approvals/" + url.PathEscape(callID)
}

// ToolOutputPath is a tool call's whole output, as text or bytes.
func ToolOutputPath(run, callID string) string {
	return "/api/tool-outputs/" + url.PathEscape(run) + "/" + url.PathEscape(callID)
}

// SettingsPath and GalleryPath are pages.
func SettingsPath() string { return "/settings" }
func GalleryPath() string  { return "/gallery" }

// post is the expression that sends the form with the page's client. A path is
// escaped, so no quote can stand in it.
func post(path string) string { return "@post('" + path + "', {contentType: 'form'})" }
