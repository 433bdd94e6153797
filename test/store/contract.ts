// The port in src/domain/store.ts as a test suite for every engine. It knows no engine: all of them must pass all of it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Store } from '../../src/domain/store.ts';
import { activityContract } from './contract-activity.ts';
import { administrationContract } from './contract-administration.ts';
import { agentDetailsContract } from './contract-agent-details.ts';
import { agentListContract } from './contract-agent-lists.ts';
import { agentRequestsContract } from './contract-agent-requests.ts';
import { agentContract } from './contract-agents.ts';
import { allEventsContract } from './contract-all-events.ts';
import { auditContract } from './contract-audit.ts';
import { auditFilterContract } from './contract-audit-filters.ts';
import { clientContract } from './contract-clients.ts';
import { closeContract } from './contract-close.ts';
import { eventListContract } from './contract-event-lists.ts';
import { eventContract } from './contract-events.ts';
import { grantEndContract } from './contract-grant-ends.ts';
import { grantModelContract } from './contract-grant-model.ts';
import { grantContract } from './contract-grants.ts';
import { keyContract } from './contract-keys.ts';
import { oracleContract, pageContract } from './contract-pages.ts';
import { quotaContract } from './contract-quotas.ts';
import { removalContract } from './contract-removals.ts';
import { replaceContract } from './contract-replace.ts';
import { searchEdgeContract } from './contract-search-edges.ts';
import { searchContract } from './contract-searches.ts';
import { settingContract } from './contract-settings.ts';
import { sizeContract } from './contract-sizes.ts';
import { undoContract } from './contract-undo.ts';
import { undoModelContract } from './contract-undo-model.ts';
import { wordContract } from './contract-words.ts';
import { addAgent, addEvent, assertRecord, newEventRow } from './rows.ts';

/** Opens a store that holds nothing. */
export type OpenStore = () => Promise<Store>;

/** One store for all tests of the surrounding describe, opened before the first and closed after the last. */
export function useStore(open: OpenStore): () => Store {
  let store: Store;
  before(async () => {
    store = await open();
  });
  after(() => store.close());
  return () => store;
}

export function storeContract(name: string, open: OpenStore): void {
  describe(`the ${name} store`, () => {
    describe('agents and keys', () => agentContract(useStore(open)));
    describe('keys that agents change', () => keyContract(useStore(open)));
    describe('grants', () => grantContract(useStore(open)));
    describe('ends of grants', () => grantEndContract(useStore(open)));
    describe('grants against a model', () => grantModelContract(useStore(open)));
    describe('clients', () => clientContract(useStore(open)));
    describe('quotas', () => quotaContract(useStore(open)));
    describe('events', () => eventContract(useStore(open)));
    describe('replaceEvent', () => replaceContract(useStore(open)));
    describe('sizes', () => sizeContract(useStore(open)));
    describe('searches', () => searchContract(useStore(open)));
    describe('searches at the edges', () => searchEdgeContract(useStore(open)));
    describe('words', () => wordContract(useStore(open)));
    describe('pages', () => pageContract(useStore(open)));
    describe('a random world', () => oracleContract(useStore(open)));
    describe('administration', () => administrationContract(useStore(open)));
    describe('removals in slices', () => removalContract(useStore(open)));
    describe('pages of agents', () => agentListContract(useStore(open)));
    describe('requests of the last hour', () => agentRequestsContract(useStore(open)));
    describe('what was created lately', () => activityContract(useStore(open)));
    describe('pages of events', () => eventListContract(useStore(open)));
    describe('the list of all events', () => allEventsContract(useStore(open)));
    describe('the audit log', () => auditContract(useStore(open)));
    describe('filters of the audit log', () => auditFilterContract(useStore(open)));
    describe('an agent for administrators', () => agentDetailsContract(useStore(open)));
    describe('undo', () => undoContract(useStore(open)));
    describe('undo against a model', () => undoModelContract(useStore(open)));
    describe('settings', () => settingContract(useStore(open)));
    describe('lifecycle', () => lifeContract(open));
    describe('closing', () => closeContract(open));
  });
}

function lifeContract(open: OpenStore): void {
  it('names its engine and says that it can read and write', async () => {
    const store = await open();
    assert.match(store.engine, /^(sqlite|postgres)$/);
    await store.check();
    await store.close();
  });

  it('finishes the operations it has accepted when it is closed', async () => {
    const store = await open();
    const { agent } = await addAgent(store);
    const kept = await addEvent(store, agent);
    const rows = Array.from({ length: 20 }, () => newEventRow(agent));
    const creating = rows.map((row) => store.createEvent(row, 0));
    const audit = {
      at_ms: 1,
      actor_subject: '',
      actor_email: '',
      action: 'update_agent',
      detail: '',
    } as const;
    const updating = store.updateAgent(
      agent.agent_id,
      { tier: 'read' },
      { ...audit, target: agent.agent_id },
    );
    const replacing = store.replaceEvent({ ...kept, version: 2, title: 'last' });
    const setting = store.getSetting('last', async () => 'words');
    await store.close();
    for (const [at, outcome] of (await Promise.all(creating)).entries()) {
      assert.equal(outcome.kind, 'created');
      assertRecord('record' in outcome ? outcome.record : undefined, rows[at]!);
    }
    assert.equal((await updating)?.tier, 'read');
    assert.equal((await replacing).kind, 'replaced');
    assert.equal(await setting, 'words');
  });
}
