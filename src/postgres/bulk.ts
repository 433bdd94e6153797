// Bulk reads and writes of the database. Nodes may serve requests at the same time.

import type { AgentDetails } from '../domain/administration/agent-details.ts';
import type { AgentRecord, AgentRow } from '../domain/agent.ts';
import type { KeyFingerprint } from '../domain/api-key.ts';
import {
  decodeEvent,
  type EventRow,
  encodeEvent,
  STORED_EVENT_COLUMNS,
  type StoredEvent,
} from '../domain/events/event.ts';
import { WORDS_VERSION } from '../domain/events/words.ts';
import type { AgentStore, BulkReader, BulkWriter, CreateOutcome } from '../domain/store.ts';
import type { Database, DatabaseOptions } from './client/database.ts';
import { openDatabase, openReadable } from './open.ts';
import { insertRecords } from './records.ts';
import { PostgresStore } from './store.ts';
import { tokenizer, wordsFrom, wordsText } from './words.ts';

const ROWS_PER_BATCH = 1_000;

const INSERT = `${insertRecords('events', { words: wordsFrom('words'), words_by: `${WORDS_VERSION}` })}
  ON CONFLICT (agent_id, start_ms, lat, lng, title) DO NOTHING RETURNING agent_id, octet_length(json) AS bytes`;

interface EncodedRow extends EventRow {
  readonly json: string;
  readonly words: string;
}

interface Inserted {
  readonly agent_id: string;
  readonly bytes: number;
}

export class PostgresBulkWriter implements BulkWriter {
  readonly #store: PostgresStore;
  readonly #database: Database;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(database: Database) {
    this.#database = database;
    this.#store = new PostgresStore(database);
  }

  /** Throws StartError if the database cannot be reached or used. */
  static async open(options: DatabaseOptions): Promise<PostgresBulkWriter> {
    return new PostgresBulkWriter(await openDatabase(options));
  }

  addAgent(agent: AgentRow, key: KeyFingerprint): Promise<void> {
    return this.#store.addAgent(agent, key);
  }

  findAgentByKey(keyHash: string, nowMs: number): Promise<AgentRow | undefined> {
    return this.#store.findAgentByKey(keyHash, nowMs);
  }

  findAgentDetails: AgentStore['findAgentDetails'] = (...args) => this.#store.findAgentDetails(...args);
  updateAgent: AgentStore['updateAgent'] = (...args) => this.#store.updateAgent(...args);
  deleteAll: AgentStore['deleteAll'] = (...args) => this.#store.deleteAll(...args);
  replaceAgentKeys: AgentStore['replaceAgentKeys'] = (...args) => this.#store.replaceAgentKeys(...args);

  createEvents(
    rows: readonly EventRow[],
    maxPerAgent: number,
    maxBytes = 0,
  ): Promise<readonly CreateOutcome['kind'][]> {
    const created = this.#last.then(() => this.#createAll(rows, maxPerAgent, maxBytes));
    this.#last = created.catch(() => {});
    return created;
  }

  /** The database needs no preparation. */
  async finish(): Promise<void> {}

  async close(): Promise<void> {
    await this.#last;
    await this.#store.close();
  }

  async #createAll(
    rows: readonly EventRow[],
    maxPerAgent: number,
    maxBytes: number,
  ): Promise<readonly CreateOutcome['kind'][]> {
    const encoded: EncodedRow[] = [];
    for (const row of rows)
      encoded.push({ ...row, json: encodeEvent(row), words: wordsText(await tokenizer.wordsOf(row)) });
    const bytes = encoded.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
    const agents = [...new Set(rows.map(({ agent_id }) => agent_id))];
    const stored = await this.#findStored(agents);
    const hasRoom = stored.every(
      ({ event_count, event_bytes }) =>
        (maxPerAgent === 0 || event_count + rows.length <= maxPerAgent) &&
        (maxBytes === 0 || event_bytes + bytes <= maxBytes),
    );
    // Near a limit, or if an agent does not exist, create the events one by one, so that each gets its own outcome.
    if (!hasRoom || stored.length < agents.length) return this.#createEach(rows, maxPerAgent, maxBytes);
    const created = await this.#insert(encoded);
    return rows.map(({ event_id }) => (created.has(event_id) ? 'created' : 'existing'));
  }

  /** What these agents store already; without those that do not exist. */
  #findStored(agentIds: readonly string[]) {
    return this.#database.run(
      'repeatable',
      (sql) => sql<{ event_count: number; event_bytes: number }[]>`
        SELECT event_count, event_bytes FROM agents WHERE agent_id IN (
          SELECT value::uuid FROM json_array_elements_text(${JSON.stringify(agentIds)}::text::json) AS value)`,
    );
  }

  async #createEach(
    rows: readonly EventRow[],
    maxPerAgent: number,
    maxBytes: number,
  ): Promise<CreateOutcome['kind'][]> {
    const outcomes: CreateOutcome['kind'][] = [];
    for (const row of rows) {
      outcomes.push((await this.#store.createEvent(row, maxPerAgent, maxBytes)).kind);
    }
    return outcomes;
  }

  async #insert(rows: readonly EncodedRow[]): Promise<Set<string>> {
    const sent = JSON.stringify(rows);
    await this.#database.transaction('repeatable', async (sql) => {
      const found = await sql.unsafe<Inserted[]>(INSERT, [sent], { prepare: true });
      const counts = Map.groupBy(found, ({ agent_id }) => agent_id);
      for (const [agentId, events] of [...counts].sort()) {
        const added = events.reduce((sum, { bytes }) => sum + bytes, 0);
        await sql`
          UPDATE agents SET event_count = event_count + ${events.length}, event_bytes = event_bytes + ${added}
          WHERE agent_id = ${agentId}`;
      }
    });
    // A retry after a lost response finds its own rows as existing, so compare IDs to tell which are new.
    const ids = JSON.stringify(rows.map(({ event_id }) => event_id));
    const stored = await this.#database.run(
      'repeatable',
      (sql) => sql<{ event_id: string }[]>`
        SELECT event_id FROM events
        WHERE event_id IN (SELECT value FROM json_array_elements_text(${ids}::text::json) AS value)`,
    );
    return new Set(stored.map(({ event_id }) => event_id));
  }
}

const SELECT = `SELECT ${STORED_EVENT_COLUMNS.join(', ')} FROM events`;

export class PostgresBulkReader implements BulkReader {
  readonly #database: Database;
  readonly #store: PostgresStore;

  private constructor(database: Database) {
    this.#database = database;
    this.#store = new PostgresStore(database);
  }

  /** For an export, which needs our schema: migrates the database. Throws StartError if it cannot be reached or used. */
  static async openExport(options: DatabaseOptions): Promise<PostgresBulkReader> {
    // It takes as long as its reader needs.
    return new PostgresBulkReader(await openDatabase({ ...options, statementTimeoutMs: 0 }, 'export'));
  }

  /** For agents only. Migrates nothing. Throws StartError if the database cannot be reached or read. */
  static async openAgents(options: DatabaseOptions): Promise<PostgresBulkReader> {
    return new PostgresBulkReader(await openReadable(options));
  }

  listAgents(): Promise<AgentRecord[]> {
    return this.#store.listAgents();
  }

  findAgentDetails(agentId: string, nowMs: number): Promise<AgentDetails | undefined> {
    return this.#store.findAgentDetails(agentId, nowMs);
  }

  async countEvents(): Promise<number> {
    const [row] = await this.#database.run(
      'repeatable',
      (sql) => sql<[{ count: number }]>`SELECT count(*) AS count FROM events`,
    );
    return row.count;
  }

  /** In the same order as the embedded engine: all events by ID, so by age; one agent's events by start, place and title. */
  async *events(agentId: string | undefined): AsyncGenerator<EventRow[]> {
    const batches = this.#database.cursor(ROWS_PER_BATCH, (sql) =>
      agentId === undefined
        ? sql<StoredEvent[]>`${sql.unsafe(SELECT)} ORDER BY event_id`
        : sql<StoredEvent[]>`${sql.unsafe(SELECT)} WHERE agent_id = ${agentId}
            ORDER BY start_ms, lat, lng, title COLLATE "C"`,
    );
    for await (const batch of batches) yield batch.map(decodeEvent);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
