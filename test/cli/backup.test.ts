// `backup`: everything in one file, with or without a running service, and no partial file whatever stops it.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { callTool, refresh, signIn } from '../oauth/flow.ts';
import { makeData } from '../sqlite/data.ts';
import { assertSound, readRows } from '../sqlite/files.ts';
import { runHere } from '../support/command.ts';
import { run } from '../support/process.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { interrupt } from './bulk.ts';

describe('backup', () => {
  it('copies everything to one file, while the service runs', async (test) => {
    const service = await startTestService({}, { until: test });
    const agent = await service.newAgent();
    await service.newAgent();
    const events = [await agent.create(), await agent.create()];
    const signedIn = await signIn(service.client, { key: agent.headers['x-api-key']! });
    // Statistics write the last uses of agents first. From then on no row changes, except for the last use of a key.
    assert.equal((await (await service.newAdministrator()).get('/v1/admin/stats')).status, 200);
    const folder = temporaryFolder();
    const file = join(folder, 'copy.db');
    const { code, stdout, stderr } = await run(['backup', file], { DATA_DIR: service.folder });
    assert.deepEqual([code, stdout], [0, ''], stderr);
    const newest = events[1].created_at;
    assert.match(stderr, /^done in \d+\.\d s: /);
    assert.ok(
      stderr.endsWith(` s: ${file} holds 2 events and 2 agents, newest event created ${newest}\n`),
      stderr,
    );
    assert.deepEqual(readdirSync(folder), ['copy.db']);
    assertSound(file);
    const key = '(SELECT key_hash, agent_id, prefix, created_ms, expires_ms FROM keys)';
    const ofGrants = ['oauth_clients', 'grants', 'grant_tokens'];
    for (const table of ['agents', key, ...ofGrants, 'events', 'settings', 'audit']) {
      const all = `SELECT * FROM ${table}`;
      assert.deepEqual(readRows(file, all), readRows(join(service.folder, 'local-events.db'), all));
    }
    assert.equal((await service.client.get('/health')).status, 200);
    const DATA_DIR = temporaryFolder();
    assert.equal((await run(['restore', file], { DATA_DIR })).code, 0);
    const { client } = await startTestService({ DATA_DIR }, { until: test });
    assert.equal((await callTool(client, signedIn.access_token)).status, 200);
    assert.equal((await refresh(client, signedIn)).status, 200);
  });

  it('refuses a file that exists, and does not change it', async () => {
    const file = join(temporaryFolder(), 'copy.db');
    writeFileSync(file, 'what was there before');
    const { code, stdout, stderr } = await runHere(['backup', file], { DATA_DIR: await makeData() });
    assert.deepEqual([code, stdout], [1, '']);
    assert.equal(stderr, `${file} already exists. Choose another name, or remove the file first.\n`);
    assert.equal(readFileSync(file, 'utf8'), 'what was there before');
  });

  it('refuses PostgreSQL, and names the tool for it', async () => {
    const env = { DATA_DIR: await makeData(), DATABASE_URL: 'postgres://user:secret@db.internal/events' };
    for (const command of ['backup', 'restore']) {
      const { code, stderr } = await runHere([command, join(temporaryFolder(), 'copy.db')], env);
      assert.equal(code, 1);
      assert.match(stderr, /^This command is for the embedded engine, but DATABASE_URL is set\. .*pg_dump/);
      assert.doesNotMatch(stderr, /secret/);
    }
  });

  it('says so when the file cannot be written', async () => {
    const file = join(temporaryFolder(), 'no', 'copy.db');
    const { code, stderr } = await runHere(['backup', file], { DATA_DIR: await makeData() });
    assert.equal(code, 1);
    assert.ok(stderr.startsWith(`${file} cannot be written: ENOENT`), stderr);
  });

  it('refuses a folder without data, and creates none', async () => {
    const folder = temporaryFolder();
    const DATA_DIR = join(folder, 'data');
    const { code, stderr } = await runHere(['backup', join(folder, 'copy.db')], { DATA_DIR });
    assert.equal(code, 1);
    assert.equal(stderr, `There is no data in ${DATA_DIR}. Set DATA_DIR to the folder of the service.\n`);
    assert.deepEqual(readdirSync(folder), []);
  });
});

describe('a backup of a large database', () => {
  let env: Record<string, string>;
  before(async () => {
    env = { DATA_DIR: await makeData({ megabytes: 60 }) };
  });

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`leaves nothing when ${signal} stops it`, async () => {
      const folder = temporaryFolder();
      const stopped = await interrupt(['backup', join(folder, 'copy.db')], env, { folder, signal });
      assert.deepEqual([stopped.code, stopped.signal], [code, null], stopped.stderr);
      assert.match(stopped.stderr, /^stopped in \d+\.\d s: nothing was written\n$/);
      assert.deepEqual(readdirSync(folder), []);
    });
  }

  it('leaves no file under its name after kill -9, and can be repeated', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'copy.db');
    const killed = await interrupt(['backup', file], env, { folder, signal: 'SIGKILL' });
    assert.equal(killed.signal, 'SIGKILL');
    assert.ok(!existsSync(file));
    const { code, stderr } = await runHere(['backup', file], env);
    assert.equal(code, 0, stderr);
    assertSound(file);
  });
});
