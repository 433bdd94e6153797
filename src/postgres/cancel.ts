// Statements that end on the server when nobody waits for them any more. The driver's own way needs another connection to the same
// host, which a pooler in between may not lead to. So another statement finds the session by a mark in its text.
import type { Statements } from './client/database.ts';
import type { Statement } from './search.ts';

/** Columns of rows as the bytes of their texts. */
export type RawRows = readonly (readonly (Buffer | null)[])[];

export class CancellableReads {
  /** Different for each process. */
  #name: string | undefined;
  #count = 0;

  /** Reads rows. Throws the reason of the signal if it is aborted meanwhile, and otherwise as `Statements.run` does. */
  async run(
    statements: Statements,
    { text, values }: Statement,
    signal: AbortSignal | undefined,
  ): Promise<RawRows> {
    this.#name ??= await newName(statements);
    const mark = `/* ${this.#name} ${++this.#count} */`;
    try {
      return await statements.run('search', async (sql) => {
        signal?.throwIfAborted();
        let cancelling: Promise<unknown> | undefined;
        const cancel = () => {
          cancelling = cancelStatement(statements, mark).catch(() => {}); // it ends by its timeout then
        };
        signal?.addEventListener('abort', cancel, { once: true });
        try {
          return (await sql.unsafe(`${mark} ${text}`, [...values]).raw()) as unknown as RawRows;
        } finally {
          signal?.removeEventListener('abort', cancel);
          await cancelling; // otherwise it might hit the next statement of this connection
        }
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }
}

async function newName(statements: Statements): Promise<string> {
  const [row] = await statements.run(
    'repeatable',
    (sql) => sql<[{ readonly name: string }]>`SELECT gen_random_uuid() AS name`,
  );
  return row.name;
}

async function cancelStatement(statements: Statements, mark: string): Promise<void> {
  await statements.run(
    'repeatable',
    (sql) => sql`
      SELECT pg_cancel_backend(pid) FROM pg_stat_activity
      WHERE starts_with(query, ${mark}) AND state = 'active' AND pid <> pg_backend_pid()`,
  );
}
