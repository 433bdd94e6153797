// Loaded into a service with --import: its database no longer syncs each commit. With this, power cuts must lose writes.
import { DatabaseSync } from 'node:sqlite';

const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  return exec.call(this, sql.replace('synchronous = FULL', 'synchronous = NORMAL'));
};
