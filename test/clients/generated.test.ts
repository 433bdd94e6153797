// The generated clients of docs/clients.md, followed by a developer: the generators are installed in an empty folder and make clients from the description
// of a running service. The programs of that page compile with `strict`, create an event and page through a search.
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Client, newEvent } from '../support/client.ts';
import { npm, run } from '../support/npm.ts';
import { temporaryFolder, useTestService } from '../support/service.ts';

/** What the page installs, with the versions of everything below it: npm would take the newest, which may not work yet. */
const PACKAGES = fileURLToPath(new URL('./generators/', import.meta.url));
const [, PAGE = ''] = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8').split(
  '\n## Generated clients\n',
);
/** More than one page. */
const EVENTS = 40;
const PROGRAMS = ['with-openapi-fetch', 'with-orval', 'with-hey-api'];

describe('the generated clients of docs/clients.md', { timeout: 600_000 }, () => {
  const folder = temporaryFolder();
  const service = useTestService();
  let agent: Client;
  const expected: string[] = [];

  before(async () => {
    agent = await service.newAgent();
    for (let at = 0; at < EVENTS; at++) {
      const start_at = `2031-04-01T10:00:${10 + at}`;
      const { event_id, title } = await agent.create(
        newEvent({ event_type: 'workshop', lat: 52.52, lng: 13.4, start_at, title: `Workshop ${at}` }),
      );
      expected.push(`${event_id} ${start_at}+02:00 ${title}`);
    }
    const key = agent.headers['x-api-key']!;
    const page = PAGE.replaceAll('http://127.0.0.1:8080', service.url).replaceAll('lev_…', key);
    cpSync(PACKAGES, folder, { recursive: true });
    for (const [, name, text] of page.matchAll(/`([\w.-]+)`:\n\n```\w+\n(.*?)^```$/gms)) {
      writeFileSync(join(folder, name!), text!);
    }
    const [install, ...commands] = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) =>
      match[1]!.trimEnd(),
    );
    const { dependencies } = JSON.parse(readFileSync(join(PACKAGES, 'package.json'), 'utf8'));
    const names = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
    assert.deepEqual(install!.split(' ').sort(), ['npm', 'install', ...names].sort());
    await npm(['ci', '--no-audit', '--no-fund'], folder);
    assert.equal(commands.length, PROGRAMS.length);
    for (const command of commands) await run('sh', ['-c', command], folder);
  });

  it('compile with strict', async () => {
    const { compilerOptions } = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8'));
    assert.equal(compilerOptions.strict, true);
    await run('npx', ['tsc'], folder);
  });

  for (const program of PROGRAMS) {
    it(`create, search and page: ${program}`, async () => {
      const [created, ...found] = (await run('node', [`dist/${program}.js`], folder)).trimEnd().split('\n');
      const [, event_id] = /^created (\w{26})$/.exec(created!) ?? [];
      assert.deepEqual(found, [...expected, `${event_id} 2031-05-01T18:00:00+02:00 Lantern workshop`]);
      const { body } = await agent.get(`/v1/events/${event_id}`);
      assert.equal(body.audience, 'all', 'the program sends none');
      assert.equal((await agent.delete(`/v1/events/${event_id}`)).status, 204);
    });
  }
});
