// Size of the database on the server's disk, for the metrics: asked for now and then, because the server looks at every file for it.
import type { Metrics } from '../metrics/metrics.ts';
import type { Database } from './client/database.ts';

const INTERVAL_MS = 60_000;

export class DatabaseSize {
  readonly #database: Database;
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;

  constructor(database: Database, metrics: Metrics) {
    this.#database = database;
    metrics.gauge('local_events_database_bytes', 'Size of the database on disk.', () => this.#bytes);
    this.#timer = setInterval(() => void this.#read(), INTERVAL_MS).unref();
    void this.#read();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Without an answer, the size stays what it was. */
  async #read(): Promise<void> {
    const found = await this.#database
      .run(
        'repeatable',
        (sql) => sql<[{ bytes: number }]>`SELECT pg_database_size(current_database()) AS bytes`,
      )
      .catch(() => undefined);
    this.#bytes = found?.[0].bytes ?? this.#bytes;
  }
}
