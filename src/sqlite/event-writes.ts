// New and changed events of agents: from the row to the writer, and with their words into the memory.
import { type EventRow, encodeEvent } from '../domain/events/event.ts';
import type { CreateOutcome, ReplaceOutcome, WordLimit } from '../domain/store.ts';
import { toWire } from '../domain/wire.ts';
import type { EventMemory } from '../memory/event-memory.ts';
import { columnValues } from './columns.ts';
import type { EventWords } from './event-words.ts';
import type { WriterClient } from './threads/writer-client.ts';

const WORD_LIMIT: WordLimit = { kind: 'word-limit' };

/** Too small for a new event: one that exists is still found. */
const NO_BYTES = 1;

export class EventWrites {
  readonly #memory: EventMemory;
  readonly #words: EventWords;
  readonly #write: WriterClient['run'];

  /** `write` runs a call that needs disk space. */
  constructor(memory: EventMemory, words: EventWords, write: WriterClient['run']) {
    this.#memory = memory;
    this.#words = words;
    this.#write = write;
  }

  create(row: EventRow, maxPerAgent: number, maxBytes: number): Promise<CreateOutcome | WordLimit> {
    const json = encodeEvent(row);
    const values = columnValues(row, json);
    return this.#words.with(row, (words) => {
      const release = this.#memory.reserveWords(row.agent_id, words);
      const limits = [maxPerAgent, release ? maxBytes : NO_BYTES] as const;
      const created = this.#write(
        'createEvent',
        [values, ...limits],
        (outcome): CreateOutcome | WordLimit => {
          if (outcome.kind === 'created')
            return { kind: 'created', record: this.#memory.put(row, json, outcome.record.rowId, words) };
          if (outcome.kind === 'existing') {
            const { version, json: stored } = outcome.record;
            return { kind: 'existing', record: { version, json: toWire(stored) } };
          }
          return outcome.kind === 'size-limit' && !release ? WORD_LIMIT : outcome;
        },
      );
      if (release) created.then(release, release);
      return created;
    });
  }

  replace(next: EventRow, maxBytes: number): Promise<ReplaceOutcome | WordLimit> {
    const json = encodeEvent(next);
    const values = columnValues(next, json);
    return this.#words.with(next, async (words) => {
      const release = this.#memory.reserveWords(next.agent_id, words, next.event_id);
      if (!release) return WORD_LIMIT;
      const replaced = this.#write('replaceEvent', [values, maxBytes], (outcome): ReplaceOutcome => {
        if (outcome.kind !== 'replaced') return outcome;
        return { kind: 'replaced', record: this.#memory.put(next, json, undefined, words) };
      });
      return replaced.finally(release);
    });
  }
}
