// Package store keeps chats, messages, runs, logs and plans in the database
// through GORM: one SQLite file in the data folder, or Postgres. The schema is in
// package migrations; GORM's types stay in here.
//
// # The log of a run
//
// Claim makes its caller the run's owner and gives it a RunLog. All RunLogs of a
// process share one writer goroutine (docs/architecture.md, 'Log'). It gathers
// what came for up to 50 ms, starts at once when a structural entry or a waiting
// call is among it, and commits all runs' shares in one transaction. A share
// moves its run's row from the epoch and last_seq that the owner knows:
//
//   - it moved: the entries are stored, and Committed is called;
//   - another epoch: another owner claimed the run, ErrFenced;
//   - last_seq is already the new one, and an earlier try ended without an answer
//     to its COMMIT: it is stored, nothing is written twice;
//   - the run has ended: ErrFinished, but for late entries, which change no row.
//
// Where the shared transaction fails each share has one of its own, so that one
// run's trouble is not another's; what may pass (busy, away, full, I/O) is tried
// again for Options.Patience. A run may have a bounded amount waiting; then
// Append waits. Nothing that is not durable is told to anybody.
//
// # After the end
//
// Finish is one transaction: the last entries, the run's state, the chat's plan,
// the hold of the queue where the run did not end well, and the words for the
// search. Nothing reopens a run. Then the packer rewrites the log, 256 entries a
// row, in short transactions of its own: a review of 10,000 parts reads some
// hundred rows. Readers see no difference. Entries is the log as it was written,
// for any cursor; Packed the same with one delta a part, to fold a whole log from.
//
// # Operations
//
// The data folder holds stagefold.db with its -wal and -shm, and stagefold.lock,
// which one process holds at a time and which goes with the process, also when it
// is killed. To back up, stop the server and copy the folder, or use
// sqlite3 stagefold.db '.backup FILE' while it runs; stagefold.db alone is not
// enough. A full disk refuses what is written and loses nothing that was told as
// stored; the server goes on once there is space. WriterLag is what to watch: how
// long an entry waits for its commit.
//
// On Postgres any number of processes share the database; migrations take turns
// by an advisory lock, packers by row locks.
package store
