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
CREATE INDEX chats_by_update ON chats (updated_at DESC, id DESC);

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
CREATE INDEX messages_queued ON messages (chat_id, position) WHERE state = 'queued';
CREATE INDEX messages_answers ON messages (run_id) WHERE state = 'answer';

CREATE TABLE runs (
  position INTEGER PRIMARY KEY AUTOINCREMENT, -- order of creation
  id TEXT NOT NULL UNIQUE,
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
  plan TEXT NOT NULL, -- the planner's state, for a takeover
  attempts INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  next_step INTEGER NOT NULL,
  cancel_requested INTEGER NOT NULL,
  usage TEXT NOT NULL,
  stages_done INTEGER NOT NULL,
  stages INTEGER NOT NULL,
  packed INTEGER NOT NULL, -- 1: its log stands in packs
  created_at INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER NOT NULL
);
CREATE INDEX runs_by_chat ON runs (chat_id, position);
CREATE INDEX runs_by_parent ON runs (parent_run_id, position);
CREATE INDEX runs_by_state ON runs (state);
CREATE INDEX runs_by_model ON runs (model) WHERE parent_run_id = '';
CREATE INDEX runs_unpacked ON runs (position) WHERE packed = 0 AND state NOT IN ('queued', 'running', 'waiting');
-- At most one live root run a chat.
CREATE UNIQUE INDEX runs_live_root ON runs (chat_id) WHERE parent_run_id = '' AND state IN ('queued', 'running', 'waiting');

-- The log. On a packed delta, first is the seq of the first delta in it and
-- pieces says which seqs added how many bytes.
CREATE TABLE entries (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  step INTEGER NOT NULL,
  time INTEGER NOT NULL,
  type TEXT NOT NULL,
  body TEXT NOT NULL, -- the entry as JSON
  PRIMARY KEY (run_id, seq)
) WITHOUT ROWID;

-- The log of a run that has ended: rows of many entries.
CREATE TABLE packs (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  last_seq INTEGER NOT NULL,
  body TEXT NOT NULL, -- a JSON array of entries
  PRIMARY KEY (run_id, last_seq)
) WITHOUT ROWID;

-- Accepted changes of a run's plan; seq is the log's when it was stored.
CREATE TABLE plans (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  time INTEGER NOT NULL,
  tool TEXT NOT NULL,
  explanation TEXT NOT NULL,
  note TEXT NOT NULL,
  plan TEXT NOT NULL,
  PRIMARY KEY (run_id, seq, revision)
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

-- The words of root runs, as the store cuts them; docid is the run's position.
-- FTS5 is not in the driver's default build.
CREATE VIRTUAL TABLE search USING fts4 (title, body, tokenize=unicode61);

-- +goose Down
DROP TABLE search;
DROP TABLE settings;
DROP TABLE tool_outputs;
DROP TABLE plans;
DROP TABLE packs;
DROP TABLE entries;
DROP TABLE runs;
DROP TABLE messages;
DROP TABLE chats;
