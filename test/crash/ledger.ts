// What a client knows about its writes: which were acknowledged, and which were under way when the service died. Compared
// with the file afterwards: acknowledged ones are there, the others are there completely or not at all.
import assert from 'node:assert/strict';
import { type Answer, type Client, newEvent } from '../support/client.ts';
import type { Chance } from '../support/random.ts';

/** An event as it is sent. */
export type Wire = Record<string, unknown> & { readonly event_id: string };

type Write =
  | { readonly kind: 'create'; readonly sent: Record<string, unknown> }
  | { readonly kind: 'change'; readonly before: Wire; readonly after: Wire }
  | { readonly kind: 'delete'; readonly before: Wire };

export class Ledger {
  readonly #events = new Map<string, Wire>();
  readonly #underWay = new Set<Write>();
  answered = 0;

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Writes as one agent until the service does not respond. Calls `onAnswer` for each response. */
  async writeUntilGone(agent: Client, chance: Chance, onAnswer: () => unknown): Promise<void> {
    const own: string[] = [];
    for (;;) {
      const id = own.length > 0 ? chance.pick(own) : undefined;
      const kind = chance.next();
      let stored: string | undefined;
      if (id === undefined || kind < 0.45) stored = await this.#create(agent, chance);
      else if (kind < 0.8) stored = await this.#change(agent, this.#events.get(id)!, chance);
      else stored = await this.#delete(agent, this.#events.get(id)!);
      if (stored === undefined) return;
      if (!own.includes(stored)) own.push(stored);
      else if (!this.#events.has(stored)) own.splice(own.indexOf(stored), 1);
      this.answered++;
      onAnswer();
    }
  }

  async #create(agent: Client, chance: Chance): Promise<string | undefined> {
    const sent = newEvent({ ...randomFields(chance), audience: 'kids' });
    const answer = await this.#send({ kind: 'create', sent }, () => agent.post('/v1/events', sent));
    if (!answer) return undefined;
    assertSent(answer.body, sent);
    this.#events.set(answer.body.event_id, answer.body);
    return answer.body.event_id;
  }

  async #change(agent: Client, before: Wire, chance: Chance): Promise<string | undefined> {
    const sent = { ...randomFields(chance), title: newEvent().title };
    const after = { ...before, ...sent };
    const answer = await this.#send({ kind: 'change', before, after }, () =>
      agent.patch(`/v1/events/${before.event_id}`, sent),
    );
    if (!answer) return undefined;
    assert.deepEqual(answer.body, after);
    this.#events.set(before.event_id, after);
    return before.event_id;
  }

  async #delete(agent: Client, before: Wire): Promise<string | undefined> {
    const answer = await this.#send({ kind: 'delete', before }, () =>
      agent.delete(`/v1/events/${before.event_id}`),
    );
    if (!answer) return undefined;
    this.#events.delete(before.event_id);
    return before.event_id;
  }

  /** Undefined if there was no response. */
  async #send(write: Write, send: () => Promise<Answer>): Promise<Answer | undefined> {
    this.#underWay.add(write);
    const answer = await send().catch(() => undefined);
    if (!answer) return undefined;
    assert.equal(answer.status, write.kind === 'delete' ? 204 : 200, answer.text);
    this.#underWay.delete(write);
    return answer;
  }

  /** Asserts that these are all the events. From then on, the outcome of the writes under way is known. */
  settle(found: readonly Wire[]): void {
    const byId = new Map(found.map((event) => [event.event_id, event]));
    for (const write of this.#underWay) {
      if (write.kind === 'create') {
        const event = found.find(({ title }) => title === write.sent.title);
        if (!event) continue;
        assertSent(event, write.sent);
        this.#events.set(event.event_id, event);
      } else {
        const { event_id } = write.before;
        const event = byId.get(event_id);
        if (write.kind === 'change' && event?.title === write.after.title)
          this.#events.set(event_id, write.after);
        if (write.kind === 'delete' && !event) this.#events.delete(event_id);
      }
    }
    this.#underWay.clear();
    assert.deepEqual(byId, this.#events);
  }
}

/** Fields for rows of very different sizes; one event in four has ended. */
function randomFields(chance: Chance): Record<string, unknown> {
  const year = chance.chance(0.25) ? 2001 : chance.integer(2101, 2199);
  return {
    start_at: `${year}-05-01T18:00:00.000Z`,
    description: 'x'.repeat(Math.floor(9_999 * chance.next() ** 4)),
    cost: String(chance.integer(0, 1_000_000)),
    lat: chance.between(48, 52),
    lng: chance.between(8, 12),
  };
}

function assertSent(event: Wire, sent: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(sent)) assert.deepEqual(event[name], value, name);
}
