// Items of a file into events: each is checked by the rules of a create, and what passes goes to the writer in batches,
// several of them under way at a time, so that reading and writing overlap. How items look is left to the formats.
import type { Clock, Random } from '../domain/clock-and-random.ts';
import { AppError } from '../domain/errors.ts';
import type { EventRow } from '../domain/event.ts';
import { readEventCreate } from '../domain/event-input.ts';
import { newUlid } from '../domain/ids.ts';
import type { BulkWriter, CreateOutcome } from '../domain/store.ts';

/** A batch ends with the row that reaches either of these. */
const ROWS_PER_BATCH = 2_000;
const BYTES_PER_BATCH = 4_194_304;
const BATCHES_UNDER_WAY = 16;

/** What a file has of one event. */
export interface Item {
  /** Where it is, from 1: the line, or the place among its like. */
  readonly number: number;
  readonly bytes: number;
  /** The body of a create, unchecked; undefined for what is blank. Throws VALIDATION_ERROR. */
  read(): unknown;
}

/** What became of the items so far; blank ones are left out. */
export interface Tally {
  read: number;
  imported: number;
  existing: number;
  refused: number;
}

export interface ItemImportOptions {
  readonly writer: Pick<BulkWriter, 'createEvents'>;
  readonly agentId: string;
  readonly maxPerAgent: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Told of each item that is not imported, and why. */
  readonly onRefused: (number: number, reason: string) => void;
  /** Said behind the reason where a field is missing. */
  readonly hintFor?: (field: string) => string;
}

interface Batch {
  bytes: number;
  readonly rows: EventRow[];
  /** Where each row comes from. */
  readonly numbers: number[];
}

function newBatch(): Batch {
  return { bytes: 0, rows: [], numbers: [] };
}

export class ItemImport {
  readonly tally: Tally = { read: 0, imported: 0, existing: 0, refused: 0 };
  readonly #options: ItemImportOptions;
  #batch = newBatch();
  #underWay: Promise<void>[] = [];

  constructor(options: ItemImportOptions) {
    this.#options = options;
  }

  /** Waits while enough is under way. Throws UNAVAILABLE. */
  async add(items: readonly Item[]): Promise<void> {
    for (const item of items) {
      this.#addOne(item);
      if (this.#batch.rows.length === ROWS_PER_BATCH || this.#batch.bytes > BYTES_PER_BATCH)
        await this.#send();
    }
  }

  /** Sends what is left and waits for everything. Throws UNAVAILABLE. */
  async finish(): Promise<void> {
    await this.#send();
    await Promise.all(this.#underWay);
  }

  /** Waits until nothing is under way, whatever became of it. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  #addOne(item: Item): void {
    const { agentId, clock, random } = this.#options;
    const nowMs = clock();
    try {
      const body = item.read();
      if (body === undefined) return;
      const fields = readEventCreate(body, nowMs);
      const event_id = newUlid(nowMs, random);
      this.#batch.rows.push({ event_id, agent_id: agentId, version: 1, created_ms: nowMs, ...fields });
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
    const { writer, maxPerAgent } = this.#options;
    const batch = this.#batch;
    if (batch.rows.length === 0) return;
    this.#batch = newBatch();
    const written = writer
      .createEvents(batch.rows, maxPerAgent)
      .then((outcomes) => this.#count(batch, outcomes));
    written.catch(() => {}); // it is awaited below, or by finish; until then it must not count as unhandled
    this.#underWay.push(written);
    if (this.#underWay.length >= BATCHES_UNDER_WAY) await this.#underWay.shift();
  }

  #count({ numbers }: Batch, outcomes: readonly CreateOutcome['kind'][]): void {
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome === 'created') this.tally.imported++;
      else if (outcome === 'existing') this.tally.existing++;
      else this.#refuse(numbers[index]!, this.#reasonFor(outcome));
    }
  }

  #reasonFor(outcome: 'limit' | 'no-agent'): string {
    if (outcome === 'no-agent') return 'the agent was deleted';
    return `the agent holds as many events as it may (MAX_EVENTS_PER_AGENT is ${this.#options.maxPerAgent})`;
  }

  #refuse(number: number, reason: string): void {
    this.tally.refused++;
    this.#options.onRefused(number, reason);
  }
}

/** Every reason, each with its field. */
function reasonOf({ issues = [], message }: AppError, hintFor = (_field: string) => ''): string {
  const reasons = issues.map(({ loc, msg, type }) => {
    const field = loc.slice(1).join('.');
    if (field === '') return msg;
    return `${field}: ${msg}${type === 'missing' ? hintFor(field) : ''}`;
  });
  return reasons.join('; ') || message;
}
