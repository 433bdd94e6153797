// Imports a file's items: validates each by the rules of a create and writes the valid ones in batches. Several batches are
// in flight at a time, so that reading and writing overlap. Parsing items is left to the formats.

import type { Clock, Random } from '../../domain/clock-and-random.ts';
import { AppError } from '../../domain/errors.ts';
import type { EventRow } from '../../domain/events/event.ts';
import { readEventCreate } from '../../domain/events/event-input.ts';
import { newUlid } from '../../domain/ids.ts';
import type { AgentLimits } from '../../domain/policy.ts';
import { type BulkWriter, BYTES_PER_MB, type CreateOutcome } from '../../domain/store.ts';

/** Limits of a batch: the row that reaches one of them is its last. */
const ROWS_PER_BATCH = 2_000;
const BYTES_PER_BATCH = 4_194_304;
/** Batches being written at a time. */
const MAX_PENDING_BATCHES = 16;

/** One event in a file. */
export interface Item {
  /** Its line, or its position among the items; starts at 1. */
  readonly number: number;
  readonly bytes: number;
  /** Parses the create body, without validating it; undefined for a blank line. Throws VALIDATION_ERROR. */
  read(): unknown;
}

/** Outcomes so far; blank lines are not counted. */
export interface Tally {
  read: number;
  imported: number;
  existing: number;
  refused: number;
}

export interface ItemImportOptions {
  readonly writer: Pick<BulkWriter, 'createEvents'>;
  readonly agentId: string;
  readonly limits: AgentLimits;
  readonly clock: Clock;
  readonly random: Random;
  /** Called for each item that is not imported. */
  readonly onRefused: (number: number, reason: string) => void;
  /** Text to append to the message for a missing field. */
  readonly hintFor?: (field: string) => string;
}

interface Batch {
  bytes: number;
  readonly rows: EventRow[];
  /** Item number of each row. */
  readonly numbers: number[];
}

function newBatch(): Batch {
  return { bytes: 0, rows: [], numbers: [] };
}

export class ItemImport {
  readonly tally: Tally = { read: 0, imported: 0, existing: 0, refused: 0 };
  readonly #options: ItemImportOptions;
  #batch = newBatch();
  #pending: Promise<void>[] = [];

  constructor(options: ItemImportOptions) {
    this.#options = options;
  }

  /** Adds items; waits if too many batches are pending. Throws UNAVAILABLE. */
  async add(items: readonly Item[]): Promise<void> {
    for (const item of items) {
      this.#addOne(item);
      if (this.#batch.rows.length === ROWS_PER_BATCH || this.#batch.bytes > BYTES_PER_BATCH)
        await this.#send();
    }
  }

  /** Writes the last batch and waits for all of them. Throws UNAVAILABLE. */
  async finish(): Promise<void> {
    await this.#send();
    await Promise.all(this.#pending);
  }

  /** Waits until all pending batches have succeeded or failed. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }

  #addOne(item: Item): void {
    const { agentId, clock, random } = this.#options;
    const nowMs = clock();
    try {
      const body = item.read();
      if (body === undefined) return;
      const fields = readEventCreate(body, nowMs);
      const event_id = newUlid(nowMs, random);
      const times = { created_ms: nowMs, updated_ms: nowMs };
      this.#batch.rows.push({ event_id, agent_id: agentId, version: 1, ...times, ...fields });
      this.#batch.numbers.push(item.number);
      this.#batch.bytes += item.bytes;
      this.tally.read++;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.tally.read++;
      this.#refuse(item.number, reasonOf(error, this.#options.hintFor));
    }
  }

  async #send(): Promise<void> {
    const { writer, limits } = this.#options;
    const batch = this.#batch;
    if (batch.rows.length === 0) return;
    this.#batch = newBatch();
    const written = writer
      .createEvents(batch.rows, limits.maxEventsPerAgent, limits.maxBytesPerAgent)
      .then((outcomes) => this.#count(batch, outcomes));
    written.catch(() => {}); // awaited below or in finish; until then it must not count as an unhandled rejection
    this.#pending.push(written);
    if (this.#pending.length >= MAX_PENDING_BATCHES) await this.#pending.shift();
  }

  #count({ numbers }: Batch, outcomes: readonly CreateOutcome['kind'][]): void {
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome === 'created') this.tally.imported++;
      else if (outcome === 'existing') this.tally.existing++;
      else this.#refuse(numbers[index]!, this.#reasonFor(outcome));
    }
  }

  #reasonFor(outcome: 'limit' | 'size-limit' | 'no-agent'): string {
    if (outcome === 'no-agent') return 'the agent was deleted';
    if (outcome === 'size-limit') {
      const megabytes = this.#options.limits.maxBytesPerAgent / BYTES_PER_MB;
      return `the events of the agent would take more than ${megabytes} MB (MAX_MB_PER_AGENT)`;
    }
    return `the agent has reached its limit of ${this.#options.limits.maxEventsPerAgent} events (MAX_EVENTS_PER_AGENT)`;
  }

  #refuse(number: number, reason: string): void {
    this.tally.refused++;
    this.#options.onRefused(number, reason);
  }
}

/** Joins all reasons, each with its field. */
function reasonOf({ issues = [], message }: AppError, hintFor = (_field: string) => ''): string {
  const reasons = issues.map(({ loc, msg, type }) => {
    const field = loc.slice(1).join('.');
    if (field === '') return msg;
    return `${field}: ${msg}${type === 'missing' ? hintFor(field) : ''}`;
  });
  return reasons.join('; ') || message;
}
