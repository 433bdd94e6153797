// A second client of a store's database: it holds locks that the store must wait for, and ends the store's connections.
import { setTimeout as sleep } from 'node:timers/promises';
import postgres, { type TransactionSql } from 'postgres';

export class Side {
  readonly sql: postgres.Sql;

  constructor(url: string) {
    this.sql = postgres(url, { max: 4, onnotice: () => {} });
  }

  close(): Promise<void> {
    return this.sql.end();
  }

  /** Runs the work and holds its locks until `release` is called. */
  async hold(work: (sql: TransactionSql) => Promise<unknown>): Promise<{ release(): Promise<void> }> {
    const gate = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const done = this.sql.begin(async (sql) => {
      await work(sql);
      held.resolve();
      await gate.promise;
    });
    await Promise.race([held.promise, done]);
    return {
      release: async () => {
        gate.resolve();
        await done;
      },
    };
  }

  /** Waits until `count` statements of the store are blocked by a lock, without its own polls for changes and for events without words; returns the PIDs. */
  async untilBlocked(count = 1): Promise<number[]> {
    for (;;) {
      const rows = await this.sql`
        SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND application_name = 'local-events' AND query NOT LIKE '%words_by < %'
          AND query NOT LIKE '%pg_current_snapshot()%'`;
      if (rows.length >= count) return rows.map(({ pid }) => pid);
      await sleep(5);
    }
  }

  async terminate(pids: readonly number[]): Promise<void> {
    for (const pid of pids) await this.sql`SELECT pg_terminate_backend(${pid})`;
  }

  /** PIDs of all connections of the store. */
  async connections(): Promise<number[]> {
    const rows = await this.sql`
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND starts_with(application_name, 'local-events')`;
    return rows.map(({ pid }) => pid);
  }

  /** Counts rows of the table written from now on; `condition` on NEW selects some. */
  async countWrites(table: string, condition = 'true'): Promise<() => Promise<number>> {
    await this.sql.unsafe(`
      CREATE TABLE writes_of_${table} (number bigint GENERATED ALWAYS AS IDENTITY);
      CREATE FUNCTION note_write_of_${table}() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO writes_of_${table} DEFAULT VALUES; RETURN NULL; END';
      CREATE TRIGGER note_write AFTER INSERT OR UPDATE ON ${table}
        FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION note_write_of_${table}()`);
    return async () => {
      const [row] = await this.sql.unsafe(`SELECT count(*)::integer AS count FROM writes_of_${table}`);
      return row!.count;
    };
  }
}
