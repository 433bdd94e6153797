// Reads the JSON of events that are not in the cache. Searches that need some at the same time share a statement.
import type { Wire } from '../../domain/wire.ts';
import type { StoredEvents, WantedEvent } from '../../memory/event-lookup.ts';
import type { Database } from '../client/database.ts';
import { wireOf } from '../records.ts';
import { INCARNATION } from './changes.ts';

/** Maximum number of statements at a time, and of events in one of them (a single search may need more). */
const MAX_STATEMENTS = 2;
const MAX_EVENTS = 300;

/** Events and the incarnation of the server, from one snapshot; the incarnation is the row without a version. */
const READ = `SELECT ${INCARNATION} AS id, NULL::integer AS version, NULL::text AS json
  UNION ALL SELECT event_id, version, json FROM events WHERE event_id = ANY (string_to_array($1::text, ','))`;

/** Events in the order of the request. */
export interface FoundBodies extends StoredEvents {
  /** Incarnation of the server that they were read from; undefined if it has none yet. */
  readonly incarnation: string | undefined;
}

interface Request extends PromiseWithResolvers<FoundBodies> {
  readonly ids: readonly string[];
}

export class EventBodies {
  readonly #database: Database;
  #queue: Request[] = [];
  #running = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Called within an operation of the database. */
  read(wanted: readonly WantedEvent[]): Promise<FoundBodies> {
    const request = { ids: wanted.map(({ id }) => id), ...Promise.withResolvers<FoundBodies>() };
    this.#queue.push(request);
    if (this.#running < MAX_STATEMENTS) void this.#run();
    return request.promise;
  }

  async #run(): Promise<void> {
    this.#running++;
    while (this.#queue.length > 0) {
      const batch = this.#nextBatch();
      try {
        const found = await this.#find([...new Set(batch.flatMap(({ ids }) => ids))]);
        for (const { ids, resolve } of batch) resolve(select(ids, found));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#running--;
  }

  #nextBatch(): Request[] {
    let events = 0;
    const later = this.#queue.findIndex(({ ids }) => {
      events += ids.length;
      return events > MAX_EVENTS;
    });
    return this.#queue.splice(0, later < 0 ? this.#queue.length : Math.max(1, later));
  }

  async #find(ids: readonly string[]): Promise<Found> {
    const rows = (await this.#database.accepted.run('repeatable', (sql) =>
      sql.unsafe(READ, [ids.join(',')], { prepare: true }).raw(),
    )) as unknown as readonly (readonly [id: Buffer | null, version: Buffer | null, json: Buffer | null])[];
    const events = new Map<string, Body>();
    let incarnation: string | undefined;
    for (const [id, version, json] of rows) {
      if (version === null) incarnation = id?.toString('latin1');
      else events.set(id!.toString('latin1'), { version: Number(version), json: wireOf(json) });
    }
    return { incarnation, events };
  }
}

interface Body {
  readonly version: number;
  readonly json: Wire;
}

interface Found {
  readonly incarnation: string | undefined;
  readonly events: ReadonlyMap<string, Body>;
}

const NONE: Body = { version: 0, json: '' as Wire };

function select(ids: readonly string[], { incarnation, events }: Found): FoundBodies {
  const bodies = ids.map((id) => events.get(id) ?? NONE);
  return {
    incarnation,
    ids: bodies.map((body, at) => (body === NONE ? '' : ids[at]!)),
    versions: bodies.map(({ version }) => version),
    jsons: bodies.map(({ json }) => json),
  };
}
