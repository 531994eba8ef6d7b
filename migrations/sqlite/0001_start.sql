-- +goose Up
-- Times are milliseconds since 1970, 0 for none. Columns that hold JSON are text.
CREATE TABLE chats (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  planning_mode TEXT NOT NULL,
  model TEXT NOT NULL,
  approve_all INTEGER NOT NULL,
  allowed TEXT NOT NULL,
  plan TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX chats_by_update ON chats (updated_at DESC, id);

CREATE TABLE messages (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  state TEXT NOT NULL,
  run_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (chat_id, id)
);

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
  parent_run_id TEXT NOT NULL,
  user_message_id TEXT NOT NULL,
  user_text TEXT NOT NULL,
  model TEXT NOT NULL,
  mode TEXT NOT NULL,
  state TEXT NOT NULL,
  finish_reason TEXT NOT NULL,
  error TEXT NOT NULL,
  note TEXT NOT NULL,
  debt TEXT NOT NULL,
  waiting TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  next_step INTEGER NOT NULL,
  cancel_requested INTEGER NOT NULL,
  usage TEXT NOT NULL,
  stages_done INTEGER NOT NULL,
  stages INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER NOT NULL
);
CREATE INDEX runs_by_time ON runs (created_at DESC, id DESC);
CREATE INDEX runs_by_chat ON runs (chat_id, created_at);
CREATE INDEX runs_by_parent ON runs (parent_run_id) WHERE parent_run_id <> '';
-- At most one live root run a chat.
CREATE UNIQUE INDEX runs_live_root ON runs (chat_id) WHERE parent_run_id = '' AND state IN ('queued', 'running', 'waiting');
CREATE INDEX runs_open ON runs (state) WHERE state IN ('queued', 'running', 'waiting');

CREATE TABLE steps (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  plan TEXT NOT NULL,
  finished_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, step)
);

CREATE TABLE entries (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  step INTEGER NOT NULL,
  time INTEGER NOT NULL,
  type TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (run_id, seq)
) WITHOUT ROWID;

CREATE TABLE plans (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  revision INTEGER NOT NULL,
  time INTEGER NOT NULL,
  tool TEXT NOT NULL,
  explanation TEXT NOT NULL,
  note TEXT NOT NULL,
  plan TEXT NOT NULL
);
CREATE INDEX plans_by_run ON plans (run_id, id);

CREATE TABLE approvals (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  decision TEXT NOT NULL,
  reason TEXT NOT NULL,
  decided_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, call_id)
);

CREATE TABLE tool_outputs (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  media_type TEXT NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (run_id, call_id)
);

CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

-- FTS5 is not in the driver's default build.
CREATE VIRTUAL TABLE search USING fts4 (run_id, body, notindexed=run_id, tokenize=unicode61);

-- +goose Down
DROP TABLE search;
DROP TABLE settings;
DROP TABLE tool_outputs;
DROP TABLE approvals;
DROP TABLE plans;
DROP TABLE entries;
DROP TABLE steps;
DROP TABLE runs;
DROP TABLE messages;
DROP TABLE chats;
