// Store contract: random sequences of creates, changes, deletes and restores, compared with a model, one after the other and all at
// once.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentRow } from '../../src/domain/agent.ts';
import type { KeyFingerprint } from '../../src/domain/api-key.ts';
import { type EventRow, encodeEvent } from '../../src/domain/events/event.ts';
import type { Store } from '../../src/domain/store.ts';
import { fromWire } from '../../src/domain/wire.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';
import { deletionOf, lastEntry, restoreAll } from './contract-undo.ts';
import {
  addAgent,
  auditOf,
  deleteOne,
  deleteSelected,
  eventsOf,
  findAgent,
  HOUR_MS,
  idOf,
  NOW_MS,
  newEventRow,
  search,
  searchAll,
} from './rows.ts';

/** The long run has the sequences of PostgreSQL twice: with searches from memory and by SQL. */
const SEQUENCES = { sqlite: size(20, 1_000), postgres: size(8, 500) };
const STEPS = 14;

interface Owner {
  readonly agent: AgentRow;
  readonly key: KeyFingerprint;
  isDeleted: boolean;
}

/** What an entry of the audit log has deleted and not yet restored. */
interface Deletion {
  readonly auditId: number;
  owner: Owner | undefined;
  rows: EventRow[];
}

/** The model of a few agents: plain lists, and the rules of the interface. */
class World {
  readonly owners: Owner[] = [];
  live: EventRow[] = [];
  readonly deletions: Deletion[] = [];

  has(row: EventRow): boolean {
    return this.live.some(
      ({ agent_id, title, start_ms, lat, lng }) =>
        agent_id === row.agent_id &&
        title === row.title &&
        start_ms === row.start_ms &&
        lat === row.lat &&
        lng === row.lng,
    );
  }

  of({ agent }: Owner): EventRow[] {
    return this.live
      .filter(({ agent_id }) => agent_id === agent.agent_id)
      .sort((one, two) => one.start_ms - two.start_ms || (one.event_id < two.event_id ? -1 : 1));
  }

  take(rows: readonly EventRow[]): void {
    this.live = this.live.filter((row) => !rows.includes(row));
  }

  /** Returns the IDs and reasons of skipped events, by ID, and the number of restored ones. */
  restore(deletion: Deletion) {
    if (deletion.owner) deletion.owner.isDeleted = false;
    deletion.owner = undefined;
    const skipped: { event_id: string; title: string; reason: string }[] = [];
    const left: EventRow[] = [];
    let restored = 0;
    for (const row of deletion.rows.toSorted((one, two) => (one.event_id < two.event_id ? -1 : 1))) {
      const owner = this.owners.find(({ agent }) => agent.agent_id === row.agent_id)!;
      const reason = owner.isDeleted ? 'agent_deleted' : this.has(row) ? 'duplicate' : undefined;
      if (reason) {
        left.push(row);
        skipped.push({ event_id: row.event_id, title: row.title, reason });
      } else {
        this.live.push(row);
        restored++;
      }
    }
    deletion.rows = left;
    return { restored, skipped };
  }
}

export function undoModelContract(store: () => Store): void {
  it('agrees with a model in random sequences of deletes and restores', async () => {
    for (let seed = 1; seed <= SEQUENCES[store().engine]; seed++) {
      const steps: string[] = [];
      try {
        await runSequence(store(), new Chance(seed), steps);
      } catch (error) {
        throw new Error(`sequence ${seed}: ${steps.join(', ')}`, { cause: error });
      }
    }
  });

  it('loses and doubles nothing while agents and administrators write at the same time', async () => {
    const chance = new Chance(2_031);
    for (let round = 0; round < size(6, 60); round++) {
      const { agent } = await addAgent(store());
      const rows = Array.from({ length: 40 }, (_, at) =>
        newEventRow(agent, { title: `t${at % 30}`, start_ms: NOW_MS + HOUR_MS + (at % 30) }),
      );
      const own = new Set<string>();
      const known = new Map(rows.map((row) => [row.event_id, row]));
      const entries: number[] = [];
      const work = rows.map(async (row) => {
        if ((await store().createEvent(row, 0)).kind === 'existing') known.delete(row.event_id);
        if (chance.chance(0.3)) {
          const next = { ...row, version: 2, title: `${row.title} changed`, updated_ms: NOW_MS + 1 };
          if ((await store().replaceEvent(next)).kind === 'replaced') known.set(row.event_id, next);
        }
        if (chance.chance(0.2) && (await store().deleteEvent(row.event_id, agent.agent_id)))
          own.add(row.event_id);
      });
      const administer = async () => {
        for (let step = 0; step < 6; step++) {
          const some = chance.some(rows, 0.3).map(({ event_id }) => event_id);
          const outcome = await store().deleteEvents(some, deletionOf('delete_events', ''));
          if (typeof outcome === 'object' && outcome.audit_id !== null) entries.push(outcome.audit_id);
          if (step % 3 === 2) {
            await store().deleteAll(agent.agent_id, deletionOf('delete_agent_events', agent.agent_id), false);
          }
          if (entries.length > 0 && chance.chance(0.5)) await restoreAll(store(), chance.pick(entries));
        }
      };
      await Promise.all([...work, administer(), administer()]);
      await checkConserved(store(), agent, known, own);
    }
  });

  it('loses nothing while administrators delete and restore the same few events', async () => {
    const chance = new Chance(7);
    for (let round = 0; round < size(5, 40); round++) {
      const { agent } = await addAgent(store());
      const rows = [1, 2].map((at) => newEventRow(agent, { title: `t${at}` }));
      for (const row of rows) await store().createEvent(row, 0);
      const entries: number[] = [];
      const administer = async () => {
        for (let step = 0; step < 12; step++) {
          const what = chance.integer(0, 3);
          if (what === 0) {
            await store().deleteAll(agent.agent_id, deletionOf('delete_agent_events', agent.agent_id), false);
          } else if (what === 1 || entries.length === 0) {
            const ids = chance.some(rows, 0.7).map(({ event_id }) => event_id);
            const outcome = await store().deleteEvents(ids, deletionOf('delete_events', ''));
            if (typeof outcome === 'object' && outcome.audit_id !== null) entries.push(outcome.audit_id);
          } else await restoreAll(store(), chance.pick(entries.slice(-3)));
        }
      };
      await Promise.all([administer(), administer(), administer()]);
      await checkConserved(store(), agent, new Map(rows.map((row) => [row.event_id, row])), new Set());
    }
  });
}

/** Undo everything: each event that its agent did not delete is there once, unless another one has its title, start and place. */
async function checkConserved(
  store: Store,
  agent: AgentRow,
  known: ReadonlyMap<string, EventRow>,
  own: ReadonlySet<string>,
): Promise<void> {
  const entries = (await store.auditPage({ after: undefined, limit: 100 })).items.filter(
    ({ undo, target }) => undo === 'kept' && target === agent.agent_id,
  );
  let skipped = 0;
  for (const { audit_id } of entries) skipped += (await restoreAll(store, audit_id)).skipped.length;
  const events = await eventsOf(store, agent.agent_id);
  const ids = events.map(idOf);
  assert.equal(new Set(ids).size, ids.length);
  assert.equal((await findAgent(store, agent.agent_id))!.event_count, ids.length);
  assert.equal(ids.length + own.size + skipped, known.size);
  for (const event of events) assert.equal(fromWire(event), encodeEvent(known.get(idOf(event))!));
  const found = (await searchAll(store, search(), NOW_MS)).filter((event) => event.includes(agent.agent_id));
  assert.deepEqual(found.map(idOf).sort(), ids.toSorted());
}

async function runSequence(store: Store, chance: Chance, steps: string[]): Promise<void> {
  const world = new World();
  for (let count = 0; count < 2; count++) world.owners.push({ ...(await addAgent(store)), isDeleted: false });
  const create = async () => {
    const { agent, isDeleted } = chance.pick(world.owners);
    // Few titles and starts, so that some are taken.
    const start_ms = NOW_MS + HOUR_MS * chance.integer(-5, 5);
    const row = newEventRow(agent, { title: `title ${chance.integer(1, 6)}`, start_ms });
    const expected = isDeleted ? 'no-agent' : world.has(row) ? 'existing' : 'created';
    assert.equal((await store.createEvent(row, 0)).kind, expected);
    if (expected === 'created') world.live.push(row);
  };
  const noted = async (rows: readonly EventRow[], owner?: Owner) => {
    world.take(rows);
    const { audit_id, count } = await lastEntry(store);
    assert.equal(count, rows.length);
    world.deletions.push({ auditId: audit_id, owner, rows: [...rows] });
  };
  const operations: Record<string, () => Promise<void>> = {
    create,
    change: async () => {
      const row = world.live.length > 0 ? chance.pick(world.live) : undefined;
      if (!row) return;
      const next = { ...row, version: row.version + 1, title: `title ${chance.integer(1, 6)}` };
      next.updated_ms = row.updated_ms! + 1;
      const isTaken = next.title !== row.title && world.has(next);
      assert.equal((await store.replaceEvent(next)).kind, isTaken ? 'duplicate' : 'replaced');
      if (!isTaken) world.live = world.live.map((other) => (other === row ? next : other));
    },
    deleteOwn: async () => {
      const row = world.live.length > 0 ? chance.pick(world.live) : undefined;
      if (!row) return;
      assert.equal(await store.deleteEvent(row.event_id, row.agent_id), true);
      world.take([row]);
    },
    deleteOne: async () => {
      const row = world.live.length > 0 ? chance.pick(world.live) : undefined;
      if (!row) return;
      await deleteOne(store, row.event_id, deletionOf('delete_event', row.event_id));
      await noted([row]);
    },
    deleteSelected: async () => {
      const owner = chance.pick(world.owners);
      const { agent_id } = owner.agent;
      const rows = chance.some(world.of(owner));
      const ids = rows.map(({ event_id }) => event_id);
      const audit = deletionOf('delete_selected_events', agent_id);
      const deleted = await deleteSelected(store, agent_id, ids, audit);
      assert.equal(deleted, owner.isDeleted ? undefined : rows.length);
      if (rows.length > 0) await noted(rows);
    },
    deleteAny: async () => {
      const rows = chance.some(world.live);
      const [first, second] = [rows.slice(0, 2), rows.slice(2)].map((part) =>
        part.map(({ event_id }) => event_id),
      );
      const audit = deletionOf('delete_events', '');
      const outcome = await store.deleteEvents(first!, audit);
      assert.ok(typeof outcome === 'object');
      assert.equal(outcome.deleted, first!.length);
      if (outcome.audit_id === null) return;
      assert.deepEqual(await store.deleteEvents(second!, audit, { into: outcome.audit_id }), {
        ...{ deleted: second!.length, audit_id: outcome.audit_id },
      });
      await noted(rows);
    },
    deleteAll: async () => {
      const owner = chance.pick(world.owners);
      const { agent_id } = owner.agent;
      const rows = world.of(owner);
      const audit = deletionOf('delete_agent_events', agent_id);
      assert.equal(await store.deleteAll(agent_id, audit, false), !owner.isDeleted);
      if (rows.length > 0) await noted(rows);
    },
    deleteAgent: async () => {
      const owner = chance.pick(world.owners);
      const { agent_id } = owner.agent;
      const rows = world.of(owner);
      assert.equal(
        await store.deleteAll(agent_id, deletionOf('delete_agent', agent_id), true),
        !owner.isDeleted,
      );
      if (owner.isDeleted) return;
      owner.isDeleted = true;
      await noted(rows, owner);
    },
    forGood: async () => {
      const owner = chance.pick(world.owners);
      const { agent_id } = owner.agent;
      const rows = chance.some(world.of(owner), 0.3);
      const ids = rows.map(({ event_id }) => event_id);
      await store.deleteEvents(ids, deletionOf('delete_events', agent_id, 'for_good'));
      world.take(rows);
    },
    restore: async () => {
      if (world.deletions.length === 0) return;
      const deletion = chance.pick(world.deletions);
      const expected = world.restore(deletion);
      assert.deepEqual(await restoreAll(store, deletion.auditId), expected);
    },
  };
  const names = [...Object.keys(operations), 'create', 'create', 'restore', 'restore'];
  for (let step = 0; step < 4; step++) await create();
  for (let step = 0; step < STEPS; step++) {
    const name = chance.pick(names);
    steps.push(name);
    await operations[name]!();
  }
  await checkWorld(store, world);
}

async function checkWorld(store: Store, world: World): Promise<void> {
  const found = await searchAll(store, search(), NOW_MS);
  for (const owner of world.owners) {
    const { agent, key, isDeleted } = owner;
    const rows = world.of(owner);
    const events = await eventsOf(store, agent.agent_id);
    assert.deepEqual(
      events.map(fromWire),
      rows.map((row) => encodeEvent(row)),
    );
    assert.deepEqual(await store.findAgentByKey(key.hash, NOW_MS), isDeleted ? undefined : agent);
    assert.equal((await findAgent(store, agent.agent_id))?.event_count, isDeleted ? undefined : rows.length);
    const upcoming = rows.filter(({ start_ms }) => start_ms + 3 * HOUR_MS > NOW_MS);
    const own = found.filter((event) => event.includes(agent.agent_id)).map(fromWire);
    assert.deepEqual(own.sort(), upcoming.map((row) => encodeEvent(row)).sort());
    for (const row of rows) {
      const record = await store.findEvent(row.event_id);
      assert.deepEqual([record?.version, record?.updatedMs], [row.version, row.updated_ms]);
    }
    if (isDeleted) continue;
    // The limit of bytes is exact.
    const next = newEventRow(agent);
    const bytes = [...rows, next].reduce((sum, row) => sum + Buffer.byteLength(encodeEvent(row)), 0);
    assert.equal((await store.createEvent(next, 0, bytes - 1)).kind, 'size-limit');
    assert.equal((await store.createEvent(next, 0, bytes)).kind, 'created');
    // Removes it all, so that the next sequence searches few events.
    await store.deleteAll(agent.agent_id, auditOf('delete_agent', agent.agent_id), true);
  }
  for (const { rows } of world.deletions) {
    for (const row of rows)
      if (!world.live.includes(row)) assert.equal(await store.findEvent(row.event_id), undefined);
  }
}
