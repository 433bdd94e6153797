// Loaded into a service with --import: breaks its threads when the test says so.
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import threads from 'node:worker_threads';

const { STALL_FILE, KILLED_THREAD } = process.env;

if (threads.isMainThread) {
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(url, options) {
      const env = { ...options.env, ...(STALL_FILE && { STALL_FILE }) };
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
