// One quota shared by two nodes: how much of it they allow, with how many writes, in random orders.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import type { Database } from '../../src/postgres/client/database.ts';
import { openDatabase } from '../../src/postgres/open.ts';
import { QuotaLeases } from '../../src/postgres/quota-leases.ts';
import { HOUR_MS, NOW_MS } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';
import { Chance } from '../support/random.ts';
import { Side } from './side.ts';

const PATIENT = { DATABASE_POOL_TIMEOUT_MS: '60000' };

describe('a quota shared by two nodes', { timeout: 60_000 }, () => {
  let databases: Database[];
  let side: Side;
  let countWrites: () => Promise<number>;
  before(async () => {
    const url = await newDatabase();
    const options = readConfig({ DATABASE_URL: url, ...PATIENT }).database!;
    databases = await Promise.all([openDatabase(options), openDatabase(options)]);
    side = new Side(url);
    countWrites = await side.countWrites('quotas');
  });
  after(async () => {
    await Promise.all(databases.map((database) => database.close()));
    await side.close();
  });

  /** Sends groups of requests until both nodes refuse. Returns how many were allowed, in all and before the first refusal. */
  async function useUp(nodes: readonly QuotaLeases[], bucket: string, limit: number, chance: Chance) {
    let [allowed, beforeRefusal, asked] = [0, -1, 0];
    const isOver = nodes.map(() => false);
    while (isOver.includes(false)) {
      const at = chance.integer(0, nodes.length - 1);
      const count = chance.integer(1, Math.max(1, Math.min(20, limit / 5)));
      asked += count;
      const spend = () => nodes[at]!.spend(bucket, limit, 1, NOW_MS);
      const spent = await Promise.all(Array.from({ length: count }, spend));
      const given = spent.filter((quota) => quota.allowed).length;
      if (given < count && beforeRefusal < 0) beforeRefusal = allowed + given;
      isOver[at] ||= given < count;
      allowed += given;
    }
    return { allowed, beforeRefusal, asked };
  }

  for (const limit of [1, 5, 99, 100, 199, 200, 399, 1_000, 10_000]) {
    it(`allows ${limit < 100 ? 'exactly' : 'within 1 % of'} ${limit} requests`, async (t) => {
      const nodes = databases.map((database) => new QuotaLeases(database));
      const chance = new Chance(limit);
      const before = await countWrites();
      const { allowed, beforeRefusal, asked } = await useUp(nodes, `limit ${limit}`, limit, chance);
      const writes = (await countWrites()) - before;
      const least = limit < 100 ? limit : limit * 0.99;
      const most = limit < 100 ? limit : limit * 1.01;
      assert.ok(allowed >= least && allowed <= most, `${allowed} of ${limit}`);
      assert.ok(beforeRefusal >= least, `${beforeRefusal} of ${limit} before the first refusal`);
      // A node takes a two-hundredth at a time, and tries once more when nothing is left.
      const lot = Math.max(1, Math.floor(limit / 200));
      assert.ok(writes <= Math.ceil(limit / lot) + 2, `${writes} writes for ${asked} requests`);
      t.diagnostic(`${allowed} of ${limit}, ${beforeRefusal} before the first refusal, ${writes} writes`);

      const used = await countWrites();
      const more = Array.from({ length: 200 }, (_, at) =>
        nodes[at % 2]!.spend(`limit ${limit}`, limit, 1, NOW_MS + at),
      );
      assert.ok((await Promise.all(more)).every((quota) => !quota.allowed && quota.remaining === 0));
      assert.equal(await countWrites(), used, 'once it is used up, nothing is written');
    });
  }

  it('takes larger lots if many requests wait: up to a twentieth of the quota', async () => {
    const node = new QuotaLeases(databases[0]!);
    const before = await countWrites();
    const spend = () => node.spend('crowd', 600, 1, NOW_MS);
    const spent = await Promise.all(Array.from({ length: 1_000 }, spend));
    assert.equal(spent.filter((quota) => quota.allowed).length, 600);
    // The first takes its own lot; 20 others take the rest, of which the last finds less.
    assert.ok((await countWrites()) - before <= 21);
  });

  it('exceeds a limit by at most one cost per node, and leaves at most a lot of each unused', async () => {
    const [limit, maxCost] = [10_000, 150];
    const nodes = databases.map((database) => new QuotaLeases(database));
    const chance = new Chance(3);
    let used = 0;
    for (const isOver = [false, false]; isOver.includes(false); ) {
      const at = chance.integer(0, 1);
      const cost = chance.integer(1, maxCost);
      const { allowed } = await nodes[at]!.spend('costs', limit, cost, NOW_MS);
      isOver[at] ||= !allowed;
      if (allowed) used += cost;
    }
    assert.ok(used >= limit * 0.99 && used <= limit + 2 * maxCost, `${used} of ${limit}`);
  });

  it('starts a new window for both nodes with the first request after its hour', async () => {
    const nodes = databases.map((database) => new QuotaLeases(database));
    const [first, second] = nodes as [QuotaLeases, QuotaLeases];
    await useUp(nodes, 'hour', 10, new Chance(1));
    const nextMs = NOW_MS + HOUR_MS;
    const spent = [];
    for (let at = 0; at < 12; at++)
      spent.push(await (at % 2 ? first : second).spend('hour', 10, 1, nextMs + at));
    assert.deepEqual(
      spent.map(({ allowed }) => allowed),
      [...Array(10).fill(true), false, false],
    );
    assert.ok(spent.every(({ resetMs }) => resetMs === nextMs + HOUR_MS));
  });

  it('counts on a node whose clock is behind, after another one has seen the end of the window', async () => {
    const [first, second] = databases.map((database) => new QuotaLeases(database)) as [
      QuotaLeases,
      QuotaLeases,
    ];
    const resetMs = NOW_MS + HOUR_MS;
    assert.equal((await first.spend('clocks', 1, 1, NOW_MS)).allowed, true);
    await first.forget(resetMs + 60_000);
    assert.equal((await second.spend('clocks', 1, 1, resetMs - 1)).allowed, false);
    await first.forget(resetMs + HOUR_MS);
    assert.deepEqual([...(await side.sql`SELECT 1 FROM quotas WHERE bucket = 'clocks'`)], []);
  });

  it('keeps its count when a node restarts: the share it had taken is not spent twice', async () => {
    const [database] = databases as [Database];
    let allowed = 0;
    for (let restart = 0; restart < 10; restart++) {
      const node = new QuotaLeases(database);
      for (let at = 0; at < 150; at++) if ((await node.spend('restart', 1_000, 1, NOW_MS)).allowed) allowed++;
    }
    assert.ok(allowed <= 1_000 && allowed >= 950, `${allowed}`);
  });
});
