// Store contract: clients that registered themselves.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MAX_CLIENTS, UNUSED_CLIENT_MS } from '../../src/domain/grants.ts';
import type { Store } from '../../src/domain/store.ts';
import { newClient, newGrantOf } from './grant-rows.ts';
import { addAgent, NOW_MS } from './rows.ts';

export function clientContract(store: () => Store): void {
  it('finds registered clients', async () => {
    const client = newClient({ redirect_uris: ['https://a.example/"1"', 'cursor://b'], client_name: 'Zoë' });
    await store().addClient(client);
    assert.deepEqual(await store().findClient(client.client_id), client);
    assert.equal(await store().findClient('unknown'), undefined);
  });

  it('removes clients that no grant has used after a day', async () => {
    const { agent, key } = await addAgent(store());
    const [used, unused] = [newClient(), newClient()];
    for (const client of [used, unused]) await store().addClient(client);
    await store().addGrant(newGrantOf(agent, key, { client_id: used.client_id }));
    const dayLater = NOW_MS + UNUSED_CLIENT_MS;
    await store().addClient(newClient({ registered_ms: dayLater - 1 }));
    assert.deepEqual(await store().findClient(unused.client_id), unused);
    await store().addClient(newClient({ registered_ms: dayLater }));
    assert.equal(await store().findClient(unused.client_id), undefined);
    assert.deepEqual(await store().findClient(used.client_id), used);
  });
}

export function manyClientContract(store: () => Store): void {
  it('keeps a maximum number of clients: the oldest unused ones go first, then the oldest', async () => {
    const { agent, key } = await addAgent(store());
    const [oldest, next] = [newClient({ registered_ms: 1 }), newClient({ registered_ms: 2 })];
    for (const client of [oldest, next]) {
      await store().addClient(client);
      await store().addGrant(newGrantOf(agent, key, { client_id: client.client_id }));
    }
    const unused = newClient({ registered_ms: NOW_MS });
    await store().addClient(unused);
    const others = Array.from({ length: MAX_CLIENTS }, () => newClient({ registered_ms: NOW_MS + 1 }));
    for (let from = 0; from < others.length; from += 500)
      await Promise.all(others.slice(from, from + 500).map((client) => store().addClient(client)));
    assert.equal(await store().findClient(unused.client_id), undefined);
    assert.deepEqual(await store().findClient(next.client_id), next, 'a used one stays');
    const found = await Promise.all(others.map(({ client_id }) => store().findClient(client_id)));
    const count = found.filter(Boolean).length;
    assert.ok(count <= MAX_CLIENTS && count > MAX_CLIENTS - 50, `${count} clients`);
  });
}
