// INDEX_MAX_MB on the embedded engine: words of those who use most are refused before memory for words runs out, searches stay
// complete, and agents see their share.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, assertError, type Client, newEvent } from '../support/client.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

const settings = { DATA_DIR: temporaryFolder(), INDEX_MAX_MB: '16', RATE_LIMIT_READWRITE: '0' };

let made = 0;
const words = (count: number) => Array.from({ length: count }, () => (made++).toString(36)).join(' ');

describe('the limit of memory for words', () => {
  let service: TestService;
  let greedy: Client;
  let modest: Client;
  let stored = 0;
  before(async () => {
    service = await startTestService(settings);
    greedy = await service.newAgent();
    modest = await service.newAgent();
  });
  after(() => service.close());

  const share = async (agent: Client): Promise<number> => {
    const { memory_bytes, share } = (await agent.get('/v1/agents/me')).body.words;
    assert.ok(Math.abs(memory_bytes / (16 * 2 ** 20) - share) < 1e-5);
    return share;
  };
  const assertRefused = (answer: Answer) => {
    assertError(answer, 403, 'EVENT_LIMIT_REACHED');
    assert.match(answer.body.error.message, /INDEX_MAX_MB/);
  };
  const assertComplete = async () =>
    assert.equal((await modest.nearby({ q: 'everywhere', limit: 1 })).body.total, stored);
  const create = async (agent: Client, count: number): Promise<Answer> => {
    const body = newEvent({ title: `everywhere ${made}`, description: words(count) });
    const answer = await agent.post('/v1/events', body);
    if (answer.status === 200) stored++;
    return answer;
  };

  /** What is being stored counts as well, so a little fits after many at once were refused. */
  const fill = async () => {
    for (let answer: Answer | undefined; answer?.status !== 403; ) {
      answer = await create(greedy, 1_700);
      if (answer.status !== 200) assertRefused(answer);
    }
  };

  it('refuses an agent that uses most of it, and finds everything that was stored', async () => {
    const small = (await create(greedy, 1)).body;
    const sameWords = words(1_700);
    const alike: string[] = [];
    for (let count = 0; count < 5; count++) {
      const body = newEvent({ title: `everywhere ${made++}`, description: sameWords });
      alike.push((await greedy.post('/v1/events', body)).body.event_id);
      stored++;
    }
    const first = await create(greedy, 1_700);
    for (let isFull = false; !isFull; ) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => create(greedy, 1_700)));
      isFull = answers.some(({ status }) => status !== 200);
    }
    await fill();
    await assertComplete();
    const [most, little] = [await share(greedy), await share(modest)];
    assert.ok(most > 0.4 && most < 0.95, `${most}`);
    assert.equal(little, 0);
    const { event_id, title, start_at, lat, lng } = first.body;
    const again = newEvent({ title, start_at, lat, lng, description: words(1_700) });
    assert.equal((await greedy.post('/v1/events', again)).body.event_id, event_id, 'exists');
    assertRefused(await greedy.patch(`/v1/events/${small.event_id}`, { description: words(1_700) }));
    // Other events keep the words, so as many others take more. The first may still fit where a new event did not.
    let refused: Answer | undefined;
    for (const id of alike) refused = await greedy.patch(`/v1/events/${id}`, { description: words(1_700) });
    assertRefused(refused!);
    assert.equal((await greedy.patch(`/v1/events/${small.event_id}`, { cost: 'free' })).status, 200);
    assert.equal((await greedy.patch(`/v1/events/${event_id}`, { description: 'less' })).status, 200);
  });

  it('still takes events of others', async () => {
    for (let count = 0; count < 5; count++) assert.equal((await create(modest, 300)).status, 200);
    assert.ok((await share(modest)) > 0);
    await assertComplete();
  });

  it('is the same after a restart', async () => {
    await service.close();
    service = await startTestService(settings);
    const [was, agents] = [greedy, [greedy, modest]];
    [greedy, modest] = agents.map(({ headers }) => service.client.with(headers)) as [Client, Client];
    assert.notEqual(was.url, greedy.url);
    while ((await modest.nearby({ q: 'everywhere' })).status !== 200) await sleep(50);
    await assertComplete();
    await fill();
    assert.equal((await create(modest, 300)).status, 200);
    await assertComplete();
  });

  it('takes events again when some are deleted', async () => {
    const { events } = (await greedy.get('/v1/agents/me/events', { limit: 30 })).body;
    for (const { event_id } of events) {
      assert.equal((await greedy.delete(`/v1/events/${event_id}`)).status, 204);
      stored--;
    }
    while ((await create(greedy, 1_700)).status !== 200) await sleep(50);
    await assertComplete();
  });
});
