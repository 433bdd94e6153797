// The writer on a real connection: one transaction per batch, failures of a single call, failures of the whole batch.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, beforeEach, describe, it } from 'node:test';
import { columnValues } from '../../src/sqlite/columns.ts';
import { openForWriting } from '../../src/sqlite/connection.ts';
import type { CallOf, Outcome } from '../../src/sqlite/threads/rpc-server.ts';
import { Writer, type WriterCalls } from '../../src/sqlite/threads/writer.ts';
import { auditOf, newAgentRow, newEventRow, newKey } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { countCommits, readRows } from './files.ts';

type Call = CallOf<WriterCalls>;

const AGENT = newAgentRow();
const addAgent = (agent = newAgentRow(), key = newKey()): Call => ({ name: 'addAgent', args: [agent, key] });
const createEvent = (row = newEventRow(AGENT)): Call => ({
  name: 'createEvent',
  args: [columnValues(row), 0, 0],
});

describe('the writer', () => {
  const path = join(temporaryFolder(), 'writer.db');
  let database: DatabaseSync;
  let writer: Writer;
  before(() => {
    database = openForWriting(path);
    writer = new Writer(database);
    writer.run([addAgent(AGENT)]);
  });
  after(() => database.close());

  const agents = () => readRows(path, 'SELECT agent_id FROM agents').map((row) => row.agent_id);
  const everything = () =>
    ['agents', 'keys', 'events', 'audit', 'settings'].map((table) =>
      readRows(path, `SELECT * FROM ${table}`),
    );
  const errorOf = (outcome: Outcome | undefined) =>
    outcome && 'error' in outcome ? outcome.error : undefined;

  it('commits the calls of a batch in one transaction, in their order', () => {
    const calls = Array.from({ length: 50 }, () => addAgent());
    const commits = countCommits(path);
    const outcomes = writer.run([...calls, createEvent(), { name: 'ping', args: [] }]);
    assert.equal(countCommits(path), commits + 1);
    assert.equal(outcomes.length, 52);
    assert.deepEqual(outcomes[50], { value: { kind: 'created', record: { rowId: 1 } } });
  });

  it('shows a call what the calls before it in the batch did', () => {
    const row = newEventRow(AGENT);
    const again = { ...newEventRow(AGENT), title: row.title };
    const outcomes = writer.run([
      createEvent(row),
      createEvent(again),
      { name: 'replaceEvent', args: [columnValues({ ...row, version: 2, title: 'moved' }), 0] },
      createEvent(again),
      { name: 'deleteEvent', args: [row.event_id, AGENT.agent_id, null] },
      { name: 'deleteEvent', args: [row.event_id, AGENT.agent_id, null] },
    ]);
    const values = outcomes.map((outcome) => 'value' in outcome && outcome.value);
    const kinds = values.map((value) => (value as { kind?: string }).kind ?? value);
    assert.deepEqual(kinds, ['created', 'existing', 'replaced', 'created', true, false]);
  });

  it('rolls back the whole of a call that breaks a constraint, and no other call', () => {
    const [taken, before, half, after] = [newKey(), newAgentRow(), newAgentRow(), newAgentRow()];
    const outcomes = writer.run([
      addAgent(before, taken),
      addAgent(half, taken),
      addAgent(after),
      createEvent(newEventRow(after)),
    ]);
    assert.match(errorOf(outcomes[1])?.message ?? '', /UNIQUE constraint failed: keys.key_hash/);
    assert.deepEqual(
      [0, 2, 3].map((at) => errorOf(outcomes[at])),
      [undefined, undefined, undefined],
    );
    const stored = agents();
    assert.deepEqual(
      [before, half, after].map(({ agent_id }) => stored.includes(agent_id)),
      [true, false, true],
    );
  });

  it('rolls back the whole of a call whose values cannot be stored, and no other call', () => {
    const [half, after] = [newAgentRow(), newAgentRow()];
    const outcomes = writer.run([addAgent(half, { hash: {} as string, prefix: '' }), addAgent(after)]);
    assert.ok(errorOf(outcomes[0]));
    const stored = agents();
    assert.deepEqual(
      [half, after].map(({ agent_id }) => stored.includes(agent_id)),
      [false, true],
    );
  });

  describe('when the commit fails', () => {
    const watched = newAgentRow();
    before(() => {
      writer.run([addAgent(watched)]);
      database.exec(`
        CREATE TABLE watch (key_hash TEXT REFERENCES keys DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO watch SELECT key_hash FROM keys WHERE agent_id = '${watched.agent_id}';
      `);
    });
    after(() => database.exec('DROP TABLE watch'));

    it('fails every call, rolls all of them back, and runs the next batch', () => {
      const state = everything();
      const deletion: Call = {
        name: 'deleteAll',
        args: [watched.agent_id, auditOf('delete_agent', watched.agent_id), true],
      };
      assert.throws(() => writer.run([addAgent(), deletion, createEvent()]), /FOREIGN KEY constraint failed/);
      assert.equal(database.isTransaction, false);
      assert.deepEqual(everything(), state);
      const next = newAgentRow();
      writer.run([addAgent(next)]);
      assert.ok(agents().includes(next.agent_id));
    });
  });

  it('fails every call when the transaction cannot begin, and works again once it can', () => {
    const other = new DatabaseSync(path);
    database.exec('PRAGMA busy_timeout = 0');
    try {
      other.exec('BEGIN IMMEDIATE');
      assert.throws(() => writer.run([addAgent()]), /locked/);
      other.exec('COMMIT');
      assert.deepEqual(writer.run([{ name: 'ping', args: [] }]), [{ value: undefined }]);
    } finally {
      other.close();
    }
  });

  describe('when the disk is full', () => {
    const row = newEventRow(AGENT);
    const long = 'x'.repeat(100_000);
    const longWinded = { ...auditOf('delete_event', ''), actor_email: long };
    before(() => {
      writer.run([createEvent(row)]);
    });
    beforeEach(() => {
      const { page_count } = database.prepare('PRAGMA page_count').get()!;
      database.exec(`PRAGMA max_page_count = ${page_count}`);
    });
    after(() => database.exec('PRAGMA max_page_count = 1000000'));

    const calls: Call[] = [
      createEvent(newEventRow(AGENT, { description: long })),
      { name: 'replaceEvent', args: [columnValues({ ...row, version: 2, description: long }), 0] },
      addAgent(newAgentRow({ agent_name: long })),
      { name: 'addSetting', args: ['long', long] },
      { name: 'updateAgent', args: [AGENT.agent_id, { tier: 'read' }, auditOf('update_agent', '', long)] },
      { name: 'deleteAll', args: [AGENT.agent_id, auditOf('delete_agent', '', long), true] },
      {
        name: 'deleteAll',
        args: [AGENT.agent_id, auditOf('delete_agent_events', '', long.repeat(9)), false],
      },
      { name: 'deleteEvents', args: [[row.event_id], longWinded, { agentId: AGENT.agent_id }] },
      { name: 'deleteEvents', args: [[row.event_id], longWinded, {}] },
      { name: 'setSetting', args: ['long', long, { atMs: 2, nowMs: 1 }] },
    ];
    for (const [at, call] of calls.entries()) {
      it(`fails every call in the batch of call ${at}, ${call.name}, rolls all of them back, and runs the next batch`, () => {
        const state = everything();
        const small: Call = { name: 'addSetting', args: [`small ${at}`, 'x'] };
        assert.throws(() => writer.run([small, call, { name: 'ping', args: [] }]), /disk is full/);
        assert.equal(database.isTransaction, false);
        assert.deepEqual(everything(), state);
        assert.deepEqual(writer.run([small]), [{ value: 'x' }]);
      });
    }
  });
});

describe('the connection of the writer', () => {
  it('writes every commit to the disk before its call resolves', () => {
    const database = openForWriting(join(temporaryFolder(), 'settings.db'));
    const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    const names = ['journal_mode', 'synchronous', 'fullfsync', 'foreign_keys', 'busy_timeout'];
    const FULL = 2;
    assert.deepEqual(names.map(pragma), ['wal', FULL, 1, 1, 5_000]);
    database.close();
  });
});
