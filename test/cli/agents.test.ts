// `agents`: what administrators do with agents, at the command line: on a stopped folder, beside a running service, and beside nodes
// on PostgreSQL.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertError, type Client } from '../support/client.ts';
import { runHere } from '../support/command.ts';
import { getAdministratorUrl, newDatabase } from '../support/postgres.ts';
import { type Ended, run } from '../support/process.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { withSql } from './moving.ts';

const UNKNOWN = '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90';

/** An agent with an event. */
async function newAgent({ client }: TestService, name: string) {
  const agent = await client.register(name);
  const { agent_id, event_id } = await agent.create();
  return { agent, id: agent_id as string, event_id: event_id as string };
}

/** Waits until the key is refused: a node may trust it for half a second more. */
async function untilRefused({ client }: TestService, { headers }: Client): Promise<void> {
  const agent = client.with(headers);
  while ((await agent.nearby()).status === 200) await sleep(50);
  assertError(await agent.nearby(), 401, 'INVALID_API_KEY');
}

function succeeded({ code, stdout, stderr }: Ended): string {
  assert.equal(code, 0, stderr);
  return stdout;
}

/** Where the commands run, and whether the service runs meanwhile. */
interface Setting {
  readonly env: () => Promise<Record<string, string>>;
  readonly isRunning: boolean;
}

const SETTINGS: Record<string, Setting> = {
  'on a stopped folder': {
    env: async () => ({ DATA_DIR: temporaryFolder() }),
    isRunning: false,
  },
  'beside a running embedded service': {
    env: async () => ({ DATA_DIR: temporaryFolder() }),
    isRunning: true,
  },
  'beside a node on PostgreSQL': {
    env: async () => ({ DATABASE_URL: await newDatabase() }),
    isRunning: true,
  },
};

for (const [where, { env: newEnv, isRunning }] of Object.entries(SETTINGS)) {
  describe(`agents ${where}`, { timeout: 60_000 }, () => {
    /** Prepares data, runs commands beside the service or without it, and checks with a service. */
    const story = async <Prepared>(
      prepare: (service: TestService) => Promise<Prepared>,
      act: (command: (...args: string[]) => Promise<Ended>, prepared: Prepared) => Promise<void>,
      check: (service: TestService, prepared: Prepared) => Promise<void>,
    ) => {
      const env = await newEnv();
      let service = await startTestService(env);
      try {
        const prepared = await prepare(service);
        if (!isRunning) await service.close();
        const { port } = new URL(service.url);
        await act((...args) => runHere(['agents', ...args], { ...env, PORT: port }), prepared);
        if (!isRunning) service = await startTestService(env);
        await check(service, prepared);
      } finally {
        await service.close();
      }
    };

    const lastEntry = async (administrator: Client) => {
      const { entries } = (await administrator.get('/v1/admin/audit', { limit: 1 })).body;
      const { action, target, actor_subject, actor_email } = entries[0];
      assert.match(actor_subject, /^cli:./);
      assert.equal(actor_email, '');
      return [action, target];
    };

    it('lists and shows agents, as the API does', () =>
      story(
        async (service) => {
          const first = await newAgent(service, 'First');
          await newAgent(service, 'Second');
          const administrator = await service.newAdministrator();
          await administrator.get('/v1/admin/stats'); // writes last uses
          const { body } = await administrator.get('/v1/admin/agents');
          const details = (await administrator.get(`/v1/admin/agents/${first.id}`)).body;
          return { body, details };
        },
        async (command, { body, details }) => {
          assert.deepEqual(JSON.parse(succeeded(await command('list', '--json'))), body);
          const table = succeeded(await command('list')).split('\n');
          assert.match(table[0]!, /^ID +NAME +E-MAIL +TIER +STATE +EVENTS +LAST USED$/);
          assert.match(
            table[1]!,
            new RegExp(`^${details.id} +First +agent@example.com +readwrite +active +1 +20`),
          );
          assert.match(table[2]!, / Second /);
          const shown = JSON.parse(succeeded(await command('show', details.id.toUpperCase(), '--json')));
          const { requests: _, ...quota } = details.quota;
          const keys = (of: typeof details) =>
            of.keys.map(({ last_used_at: __, ...key }: object & { last_used_at: string }) => key);
          assert.deepEqual(
            { ...shown, last_used_at: '', keys: keys(shown) },
            { ...details, last_used_at: '', quota, keys: keys(details) },
          );
          const text = succeeded(await command('show', details.id));
          assert.match(
            text,
            new RegExp(`^name +First\\n.*^events +1 of 100000\\n.*^key +${details.keys[0].prefix}… `, 'ms'),
          );
        },
        async () => {},
      ));

    it('deactivates an agent and sets its tier', () =>
      story(
        (service) => newAgent(service, 'Busy'),
        async (command, { id }) => {
          assert.equal(JSON.parse(succeeded(await command('set-tier', id, 'admin', '--json'))).tier, 'admin');
          assert.match(
            succeeded(await command('deactivate', id)),
            /^Busy .* has the tier admin, and is deactivated/,
          );
        },
        async (service, { agent, id }) => {
          await untilRefused(service, agent);
          const administrator = await service.newAdministrator();
          const { tier, is_active, event_count } = (await administrator.get(`/v1/admin/agents/${id}`)).body;
          assert.deepEqual([tier, is_active, event_count], ['admin', false, 1]);
          assert.deepEqual(await lastEntry(administrator), ['update_agent', id]);
        },
      ));

    it('gives a new key, printed alone or written to a file, which ends all others', () =>
      story(
        async (service) => ({ ...(await newAgent(service, 'Lost')), keys: [] as string[] }),
        async (command, { id, keys }) => {
          const printed = await command('new-key', id);
          assert.match(succeeded(printed), /^lev_[0-9A-Za-z]{38}\n$/);
          assert.match(printed.stderr, /^Lost .* has a new key\. All its other keys have ended\.\n$/);
          const json = JSON.parse(succeeded(await command('new-key', id, '--json')));
          assert.deepEqual(Object.keys(json), ['api_key', 'key_prefix', 'tier', 'rate_limit', 'created_at']);
          const file = join(temporaryFolder(), 'key.txt');
          const written = await command('new-key', id, '--json', '--key-file', file);
          const { api_key, key_prefix } = JSON.parse(succeeded(written));
          const key = readFileSync(file, 'utf8').trim();
          assert.deepEqual([api_key, key_prefix], [undefined, key.slice(0, 8)]);
          assert.equal(statSync(file).mode & 0o777, 0o600);
          assert.ok(!(written.stdout + written.stderr).includes(key));
          assert.equal((await command('new-key', id, '--key-file', file)).code, 1, 'the file exists');
          keys.push(printed.stdout.trim(), json.api_key, key);
        },
        async (service, { agent, id, keys }) => {
          const [first, second, last] = keys.map((key) => service.client.with({ 'x-api-key': key }));
          for (const ended of [agent, first!, second!]) await untilRefused(service, ended);
          assert.equal((await last!.nearby()).status, 200);
          assert.deepEqual(await lastEntry(await service.newAdministrator()), ['new_key', id]);
        },
      ));

    it('deletes an agent, which can be restored', () =>
      story(
        (service) => newAgent(service, 'Gone'),
        async (command, { id }) => {
          assert.match(
            succeeded(await command('delete', id)),
            /^Gone .* is deleted.* restored in the console for 7 days\.\n$/,
          );
          const again = await command('delete', id, '--json');
          assert.deepEqual(
            [again.code, again.stderr],
            [1, `No agent has the ID ${id}. "agents list" lists all.\n`],
          );
          assert.equal((await command('show', id)).code, 1);
          assert.deepEqual(JSON.parse(succeeded(await command('list', '--json'))), { agents: [], total: 0 });
        },
        async (service, { agent, id, event_id }) => {
          const administrator = await service.newAdministrator();
          await untilRefused(service, agent);
          assertError(await administrator.get(`/v1/admin/events/${event_id}`), 404, 'NOT_FOUND');
          assert.deepEqual(await lastEntry(administrator), ['delete_agent', id]);
          const [{ id: auditId }] = (await administrator.get('/v1/admin/audit', { limit: 1 })).body.entries;
          const { restored } = (await administrator.post(`/v1/admin/audit/${auditId}/restore`)).body;
          assert.equal(restored, 1);
          assert.equal((await service.client.with(agent.headers).nearby()).body.total, 1);
        },
      ));
  });
}

describe('agents beside a running embedded service', () => {
  it('names the console if an identity provider is configured; list and show still work', async (test) => {
    const service = await startTestService({}, { until: test });
    const { agent, id } = await newAgent(service, 'Kept');
    const env = {
      ...{
        DATA_DIR: service.folder,
        PORT: new URL(service.url).port,
        PUBLIC_URL: 'https://events.example.org',
      },
      ...{ OIDC_ISSUER: 'https://accounts.example.com', OIDC_CLIENT_ID: 'client' },
    };
    const file = join(temporaryFolder(), 'key.txt');
    for (const args of [
      ['deactivate', id],
      ['delete', id],
      ['set-tier', id, 'read'],
      ['new-key', id, '--key-file', file],
    ]) {
      const { code, stdout, stderr } = await run(['agents', ...args], env);
      assert.deepEqual([code, stdout], [1, ''], args.join(' '));
      assert.ok(stderr.includes('accounts.example.com'), stderr);
      assert.ok(stderr.endsWith(`https://events.example.org/admin/agents/${id}\n`), stderr);
    }
    assert.ok(!existsSync(file));
    assert.equal(JSON.parse(succeeded(await run(['agents', 'list', '--json'], env))).total, 1);
    assert.match(succeeded(await run(['agents', 'show', id], env)), /^name +Kept$/m);
    assert.equal((await agent.nearby()).status, 200);
  });

  it('says so if it does not respond there, or if another service does', async (test) => {
    const [service, other] = [await startTestService(), await startTestService()];
    test.after(() => Promise.all([service.close(), other.close()]));
    const { agent, id } = await newAgent(service, 'Kept');
    const deactivate = (PORT: string) =>
      run(['agents', 'deactivate', id], { DATA_DIR: service.folder, PORT });
    const nobody = await deactivate('1');
    assert.equal(nobody.code, 1);
    assert.match(
      nobody.stderr,
      /does not respond at http:\/\/127\.0\.0\.1:1: .* HOST and PORT of that service\.\n$/,
    );
    const wrong = await deactivate(new URL(other.url).port);
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /is not the service that uses this data folder\. .* HOST and PORT/);
    assert.equal((await agent.nearby()).status, 200);
  });
});

describe('agents', () => {
  it('prints hostile names as harmless text', async () => {
    const service = await startTestService();
    const { id } = await newAgent(service, '\u001b[2J\u202eevil\u0007');
    await service.close();
    for (const args of [['list'], ['show', id], ['deactivate', id], ['new-key', id], ['delete', id]]) {
      const { stdout, stderr } = await runHere(['agents', ...args], { DATA_DIR: service.folder });
      assert.doesNotMatch(stdout + stderr, /[\u001b\u202e\u0007]/, args.join(' '));
    }
  });

  it('lists and shows agents in PostgreSQL for a role that may only read, and migrates nothing', async () => {
    const DATABASE_URL = await newDatabase();
    const service = await startTestService({ DATABASE_URL });
    const { id } = await newAgent(service, 'Old');
    await service.close();
    const guest = new URL(await newDatabase()).username;
    const env = { DATABASE_URL: DATABASE_URL.replace(/\/\/[^@]+@/, `//${guest}@`) };
    const inside = new URL(await getAdministratorUrl());
    inside.pathname = new URL(DATABASE_URL).pathname;
    const asOwner = (text: string) => withSql(inside.href, (sql) => sql.unsafe(text));
    await asOwner(`GRANT SELECT ON schema_version, settings, agents, keys TO ${guest}`);
    assert.match(succeeded(await runHere(['agents', 'list'], env)), new RegExp(`^${id} +Old `, 'm'));
    assert.match(succeeded(await runHere(['agents', 'show', id], env)), /^key .* last used \d/m);
    await asOwner('UPDATE schema_version SET version = 999');
    const tooNew = await runHere(['agents', 'list'], env);
    assert.match(tooNew.stderr, /newer version of local-events/);
  });

  it('changes nothing in PostgreSQL for a role that may only read, and says which role may; neither does a service start', async (test) => {
    const DATABASE_URL = await newDatabase();
    const service = await startTestService({ DATABASE_URL }, { until: test });
    const { agent, id } = await newAgent(service, 'Safe');
    const guest = new URL(await newDatabase()).username;
    const env = { DATABASE_URL: DATABASE_URL.replace(/\/\/[^@]+@/, `//${guest}@`) };
    await withSql(DATABASE_URL, (sql) =>
      sql.unsafe(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${guest}`),
    );
    const owner = new URL(DATABASE_URL).username;
    const message = new RegExp(
      `^The role ${guest} may not change the table (?:agents|keys|events|grants|grant_tokens|oauth_clients) of the database \\S+\\. Use the owner .*: ${owner}\\.\n$`,
    );
    for (const args of [
      ['agents', 'deactivate', id],
      ['agents', 'set-tier', id, 'read'],
      ['agents', 'delete', id],
      ['agents', 'new-key', id],
      ['serve'],
    ]) {
      const { code, stderr } = await runHere(args, { ...env, PORT: '0' });
      assert.equal(code, 1, args.join(' '));
      assert.match(stderr, message);
    }
    assert.equal((await agent.nearby()).status, 200);
    assert.match(succeeded(await runHere(['export'], env)), /^\{"title":.+\}\n$/, 'an export only reads');
  });

  it('finds no data in an empty database or one with an unfinished move, and creates none', async () => {
    const DATABASE_URL = await newDatabase();
    for (const args of [['list'], ['show', UNKNOWN], ['delete', UNKNOWN]]) {
      const { code, stderr } = await runHere(['agents', ...args], { DATABASE_URL });
      assert.equal(code, 1);
      assert.match(stderr, /^There is no data in the database \S+ yet\./);
    }
    await withSql(DATABASE_URL, async (sql) => {
      assert.equal((await sql`SELECT to_regclass('schema_version') AS found`)[0]!.found, null);
    });
    await (await startTestService({ DATABASE_URL })).close();
    await withSql(
      DATABASE_URL,
      (sql) => sql`INSERT INTO settings (name, value) VALUES ('unfinished_move', 'elsewhere')`,
    );
    const { code, stderr } = await runHere(['agents', 'list'], { DATABASE_URL });
    assert.equal(code, 1);
    assert.match(stderr, /elsewhere/);
  });

  it('works with a folder that has data only, and creates none', async () => {
    const folder = join(temporaryFolder(), 'data');
    for (const args of [['list'], ['show', UNKNOWN], ['delete', UNKNOWN]]) {
      const { code, stderr } = await runHere(['agents', ...args], { DATA_DIR: folder });
      assert.equal(code, 1);
      assert.match(stderr, /^There is no data in /);
    }
    assert.ok(!existsSync(folder));
  });

  it('does not say that there is no data if it may not look', async () => {
    const folder = join(temporaryFolder(), 'closed');
    symlinkSync(folder, folder); // as another user's folder, for every user
    const { code, stderr } = await runHere(['agents', 'list'], { DATA_DIR: folder });
    assert.equal(code, 1);
    assert.match(stderr, /^\S+ cannot be read \(ELOOP\)\. Run this as the user of the service, or .*\.\n$/);
  });
});
