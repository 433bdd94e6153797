// What clients know about their writes and when they knew it: each event's contents, one after the other. After a power cut
// an event has the content of its last acknowledged write, or of the one that was under way.
import assert from 'node:assert/strict';
import { type Client, newEvent } from '../../support/client.ts';
import type { Chance } from '../../support/random.ts';

type Wire = Readonly<Record<string, unknown>> & { readonly event_id: string };

interface Write {
  readonly begunNs: bigint;
  readonly acknowledgedNs: bigint;
  /** The event as it was sent; undefined once it is deleted. */
  readonly content: Wire | undefined;
}

export class History {
  readonly #events = new Map<string, Write[]>();

  get writes(): number {
    return this.#events.values().reduce((count, { length }) => count + length, 0);
  }

  /** Creates, changes and deletes events as one agent, one after the other. */
  async write(agent: Client, count: number, chance: Chance): Promise<void> {
    const own: string[] = [];
    for (let written = 0; written < count; written++) {
      const kind = own.length === 0 ? 0 : chance.next();
      const at = chance.integer(0, own.length - 1);
      const id = own[at]!;
      if (kind < 0.45)
        own.push(await this.#send(200, () => agent.post('/v1/events', newEvent(fields(chance)))));
      else if (kind < 0.85) await this.#send(200, () => agent.patch(`/v1/events/${id}`, fields(chance)), id);
      else {
        await this.#send(204, () => agent.delete(`/v1/events/${id}`), id);
        own.splice(at, 1);
      }
    }
  }

  async #send(status: number, send: () => ReturnType<Client['get']>, id?: string): Promise<string> {
    const begunNs = process.hrtime.bigint();
    const answer = await send();
    const acknowledgedNs = process.hrtime.bigint();
    assert.equal(answer.status, status, answer.text);
    const content: Wire | undefined = status === 204 ? undefined : answer.body;
    const known = id ?? content!.event_id;
    const writes = this.#events.get(known) ?? [];
    writes.push({ begunNs, acknowledgedNs, content });
    this.#events.set(known, writes);
    return known;
  }

  /** Every event that is not as it may be after a cut at this time; empty if nothing acknowledged was lost. */
  findLost(found: readonly Wire[], cutNs: bigint): string[] {
    const byId = new Map(found.map((event) => [event.event_id, JSON.stringify(event)]));
    const lost: string[] = [];
    for (const [id, writes] of this.#events) {
      const acknowledged = writes.filter(({ acknowledgedNs }) => acknowledgedNs < cutNs).length;
      const begun = writes.filter(({ begunNs }) => begunNs < cutNs).length;
      const allowed = writes.slice(Math.max(0, acknowledged - 1), begun).map(({ content }) => content);
      if (acknowledged === 0) allowed.push(undefined);
      const content = byId.get(id);
      if (!allowed.some((one) => (one && JSON.stringify(one)) === content)) lost.push(id);
      byId.delete(id);
    }
    return [...lost, ...byId.keys()];
  }
}

/** Fields for rows of very different sizes. */
function fields(chance: Chance): Record<string, unknown> {
  return { ...newEvent(), description: 'x'.repeat(Math.floor(9_999 * chance.next() ** 4)) };
}
