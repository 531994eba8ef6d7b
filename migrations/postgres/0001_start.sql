-- +goose Up
-- Times are milliseconds since 1970, 0 for none. Columns that hold JSON are text.
CREATE TABLE chats (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  planning_mode TEXT NOT NULL,
  model TEXT NOT NULL,
  approve_all BIGINT NOT NULL,
  allowed TEXT NOT NULL,
  plan TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX chats_by_update ON chats (updated_at DESC, id DESC);

CREATE TABLE messages (
  position BIGSERIAL PRIMARY KEY,
  id TEXT NOT NULL,
  chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  state TEXT NOT NULL,
  run_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (chat_id, id)
);
CREATE INDEX messages_queued ON messages (chat_id, position) WHERE state = 'queued';
CREATE INDEX messages_answers ON messages (run_id) WHERE state = 'answer';

CREATE TABLE runs (
  position BIGSERIAL PRIMARY KEY, -- order of creation
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
  attempts BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  last_seq BIGINT NOT NULL,
  next_step BIGINT NOT NULL,
  cancel_requested BIGINT NOT NULL,
  usage TEXT NOT NULL,
  stages_done BIGINT NOT NULL,
  stages BIGINT NOT NULL,
  packed BIGINT NOT NULL, -- 1: its log stands in packs
  created_at BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  finished_at BIGINT NOT NULL
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
  seq BIGINT NOT NULL,
  step BIGINT NOT NULL,
  time BIGINT NOT NULL,
  type TEXT NOT NULL,
  body TEXT NOT NULL, -- the entry as JSON
  PRIMARY KEY (run_id, seq)
);

-- The log of a run that has ended: rows of many entries.
CREATE TABLE packs (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  last_seq BIGINT NOT NULL,
  body TEXT NOT NULL, -- a JSON array of entries
  PRIMARY KEY (run_id, last_seq)
);

-- Accepted changes of a run's plan; seq is the log's when it was stored.
CREATE TABLE plans (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  seq BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  time BIGINT NOT NULL,
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
  body BYTEA NOT NULL,
  PRIMARY KEY (run_id, call_id)
);

CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

-- The words of root runs, as the store cuts them; docid is the run's position.
CREATE TABLE search (
  docid BIGINT PRIMARY KEY REFERENCES runs (position) ON DELETE CASCADE,
  title TSVECTOR NOT NULL,
  body TSVECTOR NOT NULL,
  words TSVECTOR GENERATED ALWAYS AS (title || body) STORED
);
CREATE INDEX search_words ON search USING gin (words);

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
