// Loaded into a service with --import: breaks its threads when the test says so.
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import threads from 'node:worker_threads';

const { STALL_FILE, WORDS_FILE, KILLED_THREAD } = process.env;

if (threads.isMainThread) {
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(url, options) {
      const env = { ...options.env, ...(STALL_FILE && { STALL_FILE }), ...(WORDS_FILE && { WORDS_FILE }) };
      super(url, { ...options, env });
      if (KILLED_THREAD && String(url).includes(KILLED_THREAD))
        process.once('SIGUSR2', () => this.terminate());
    }
  };
  syncBuiltinESMExports();
} else if (STALL_FILE) {
  // A commit that waits, as one does whose disk does not respond.
  const { exec } = DatabaseSync.prototype;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  DatabaseSync.prototype.exec = function (sql) {
    if (sql === 'COMMIT') while (existsSync(STALL_FILE)) Atomics.wait(cell, 0, 0, 50);
    return exec.call(this, sql);
  };
}

if (!threads.isMainThread && WORDS_FILE) {
  // A slow disk, from which the words of one event are read at a time.
  const { iterate } = StatementSync.prototype;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  StatementSync.prototype.iterate = function* (...values) {
    const isSlow = /\bjson\b/.test(this.sourceSQL) && existsSync(WORDS_FILE);
    if (isSlow) Atomics.wait(cell, 0, 0, 100);
    for (const row of iterate.apply(this, values)) {
      yield row;
      if (isSlow) return;
    }
  };
}
