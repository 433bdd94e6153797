// The API documentation in a real browser: read, searched, and used to send requests. How it looks is in docs-look.test.ts.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { assertClean, closeBrowser, type Visit } from '../console/console.ts';
import { startTestService, type TestService } from '../support/service.ts';
import {
  type Described,
  dialogOf,
  newKey,
  openDocs,
  operationOf,
  readDescribed,
  send,
  useKey,
} from './docs-page.ts';

const run = promisify(execFile);

// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI document is checked by its own tests
type Json = any;

let service: TestService;
let described: readonly Described[];
before(async () => {
  service = await startTestService();
  described = await readDescribed(service);
});
after(async () => {
  await closeBrowser();
  await service.close();
});

const open = (options?: BrowserContextOptions, path?: string) => openDocs(service, options, path);

describe('without scripts, /docs', () => {
  it('has every operation, parameter, field and status of the OpenAPI document', async () => {
    const visitor = await open({ javaScriptEnabled: false });
    const { page } = visitor;
    const textsIn = (place: Locator) => place.allInnerTexts();
    const common = await textsIn(page.locator('#errors > p a'));
    const errors = await textsIn(page.locator('#errors tr'));
    for (const { id, method, path, operation, parameters } of described) {
      const form = operationOf(page, id);
      assert.equal(await form.locator('h3').innerText(), operation.summary);
      assert.equal((await form.locator('.route').innerText()).replaceAll(/\s+/g, ' '), `${method} ${path}`);
      assert.match(await form.locator('.sample').innerText(), /^curl /);
      const rows = (await textsIn(form.locator('tr'))).map((row) => row.split(/\s+/));
      const heads = rows.map(([head]) => head);
      for (const { name } of parameters) assert.ok(heads.includes(name), `${id}: ${name}`);
      for (const [status, response] of Object.entries<Json>(operation.responses)) {
        const codes: string[] = response.$ref?.split('/').at(-1).split('.') ?? [];
        for (const code of codes) {
          const meaning = errors.find((row) => row.startsWith(`${code}\t`));
          assert.ok(meaning?.includes(`\t${status} `), `${id}: ${code}`);
          const shown = rows.find(([head]) => head === status) ?? [];
          assert.ok(shown.includes(code) || common.includes(code), `${id}: ${code}`);
        }
        const isCommon = codes.length > 0 || (id === 'getHealth' && common.includes('UNAVAILABLE'));
        assert.ok(heads.includes(status) || isCommon, `${id}: ${status}`);
      }
    }
    assert.equal(await page.locator('form.operation').count(), described.length);
    const create = operationOf(page, 'createEvent');
    for (const field of ['title', 'start_at', 'lat']) {
      await create.getByRole('rowheader', { name: field, exact: true }).waitFor();
    }
    assert.equal(await page.getByRole('button', { name: 'Send' }).count(), 0, 'nothing that needs scripts');
    await visitor.context.close();
  });
});

describe('/docs', () => {
  let visitor: Visit;
  let page: Page;
  before(async () => {
    visitor = await open();
    page = visitor.page;
  });
  after(() => visitor.context.close());

  it('lists the operations for agents, then those of administrators apart', async () => {
    const nav = page.getByRole('navigation', { name: 'Operations' });
    const idsIn = (part: Locator) =>
      part.locator('li > a').evaluateAll((all) => all.map((link) => link.getAttribute('href')!.slice(1)));
    const isForAdministrators = ({ operation }: Described) => operation.tags[0] === 'Administration';
    const apart = nav.locator('details');
    assert.equal(await apart.locator('summary').innerText(), 'For administrators');
    const listed = await idsIn(apart);
    assert.deepEqual(
      listed.sort(),
      described
        .filter(isForAdministrators)
        .map(({ id }) => id)
        .sort(),
    );
    const others = (await idsIn(nav)).filter((id) => !listed.includes(id));
    const expected = described.filter((each) => !isForAdministrators(each)).map(({ id }) => id);
    assert.deepEqual(others.sort(), [...expected, 'errors'].sort());
    const inPage = await page.locator('form.operation').evaluateAll((all) => all.map(({ id }) => id));
    assert.deepEqual(inPage.slice(-listed.length).sort(), listed);
  });

  it('is searched by words of the operations: titles, paths, parameters and descriptions', async () => {
    const search = page.getByLabel('Search the operations');
    const shown = () =>
      page
        .locator('.contents li:visible a')
        .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    await page.keyboard.press('/');
    assert.equal(await page.evaluate('document.activeElement.id'), 'search');
    await search.fill('overlap_seconds');
    assert.deepEqual(await shown(), ['#rotateKey']);
    assert.equal(await page.getByRole('status').first().innerText(), '1 found');
    await search.fill('audit RESTORE cursor');
    assert.ok((await shown()).includes('#restoreDeleted'), 'also of administrators');
    await search.fill('xyzzy');
    assert.deepEqual(await shown(), []);
    await search.fill('overlap_seconds');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#rotateKey$/);
    await search.press('Escape');
    assert.ok((await shown()).length > 10);
  });

  it('has samples in three languages beside each operation, which follow what is typed', async () => {
    for (const { id } of described) {
      const form = operationOf(page, id);
      assert.deepEqual(await form.locator('.code-head label').allInnerTexts(), [
        'curl',
        'JavaScript',
        'Python',
      ]);
    }
    const search = operationOf(page, 'searchNearby');
    const sample = search.locator('.sample');
    await search.getByLabel('radius').fill('2.5');
    await search.getByLabel('audience').fill('kids, all');
    await search.getByLabel('q', { exact: true }).fill("rock'n");
    await search.getByLabel('when').selectOption('tonight');
    const url = `${service.url}/v1/events/nearby?lat=52.52&lng=13.405&radius=2.5&audience=kids&audience=all&q=rock%27n&when=tonight`;
    assert.equal(
      await sample.innerText(),
      `curl '${url}' \\\n  -H "X-API-Key: $KEY" \\\n  -H 'Prefer: handling=strict'`,
    );
    await search.getByLabel('Python').check();
    assert.ok((await sample.innerText()).includes(`"${url}",`));
    // The language is chosen for all operations.
    const create = operationOf(page, 'createEvent');
    const body = create.getByLabel('Body');
    await body.fill('{"title": "A \\"quote\\"", "end_at": null}');
    assert.equal(
      await create.locator('.sample').innerText(),
      `import json, os, urllib.request

request = urllib.request.Request(
    "${service.url}/v1/events",
    method="POST",
    headers={
        "X-API-Key": os.environ["KEY"],
        "Prefer": "handling=strict",
        "Content-Type": "application/json",
    },
    data=json.dumps({
        "title": "A \\"quote\\"",
        "end_at": None,
    }).encode(),
)
with urllib.request.urlopen(request) as response:
    print(response.status, json.load(response))`,
    );
    await create.getByLabel('JavaScript').check();
    await body.fill('{"title": ');
    assert.ok((await create.locator('.sample').innerText()).includes('body: "{\\"title\\":",'));
    await create.getByLabel('curl').check();
    await page.reload();
  });

  it('says that a key is missing, and gives one to newcomers: then search and create work unchanged', async () => {
    const search = operationOf(page, 'searchNearby');
    assert.equal((await send(search)).status, 401);
    await search.getByRole('button', { name: 'Get a key' }).click();
    await dialogOf(page).getByLabel('E-mail').fill('docs@example.com');
    await dialogOf(page).getByLabel('Name of your agent').fill('From the docs');
    await page.keyboard.press('Enter');
    await page.locator('#new-key').waitFor();
    await dialogOf(page).getByRole('link', { name: 'search for events' }).click();
    await dialogOf(page).waitFor({ state: 'hidden' });
    const found = await send(search);
    assert.equal(found.status, 200);
    assert.equal(JSON.parse(found.text).total, 0);
    const created = await send(operationOf(page, 'createEvent'));
    assert.equal(created.status, 200);
    assert.equal(JSON.parse(created.text).title, 'Lantern workshop');
    assert.equal(JSON.parse((await send(search)).text).total, 1);
  });

  it('fills in the event that was created, to read, change and delete it', async () => {
    const read = operationOf(page, 'getEvent');
    const { event_id } = JSON.parse((await send(operationOf(page, 'createEvent'))).text);
    assert.equal(await read.getByLabel('event_id').inputValue(), event_id);
    assert.equal((await send(read)).status, 200);
    await read.getByLabel('If-None-Match').fill('"1"');
    assert.deepEqual(await send(read), { status: 304, text: '' });
    await read.getByLabel('If-None-Match').fill('');
    await read.getByLabel('format').selectOption('ics');
    assert.match((await send(read)).text, /^BEGIN:VCALENDAR/);
    const update = operationOf(page, 'updateEvent');
    assert.equal((await send(update)).status, 200, 'the example works for the event');
    await update.getByLabel('Body').fill('{"title": "Changed"}');
    assert.equal(JSON.parse((await send(update)).text).title, 'Changed');
    const remove = operationOf(page, 'deleteEvent');
    await remove.getByRole('button', { name: 'Send' }).click();
    await remove.getByRole('button', { name: 'Press again to send' }).waitFor();
    assert.equal(
      (
        await service.client
          .with({ 'x-api-key': (await page.evaluate('sessionStorage["local-events-key"]')) as string })
          .get(`/v1/events/${event_id}`)
      ).status,
      200,
      'not sent yet',
    );
    assert.deepEqual(await send(remove), { status: 204, text: '' });
    assert.equal((await send(read)).status, 404);
  });

  it('shows errors as the service sends them, and needs no more than a path parameter', async () => {
    const search = operationOf(page, 'searchNearby');
    await search.getByLabel('lat').fill('');
    const { status, text } = await send(search);
    assert.equal(status, 422);
    assert.deepEqual(JSON.parse(text).detail[0].loc, ['query', 'lat']);
    await search.getByText('Headers').click();
    assert.match(
      await search.getByRole('group', { name: 'Headers of the response' }).innerText(),
      /^x-request-id: /m,
    );
    await page.route('**/v1/events/nearby*', (route) => route.abort());
    await search.locator('button[type=submit]').click();
    await search.getByText('The service does not respond').waitFor();
    await page.unroute('**/v1/events/nearby*');
  });

  it('keeps the key when it is reloaded, in this tab only; the front page has it, too', async () => {
    await page.reload();
    await page.getByRole('button', { name: /^Key in use: lev_/ }).waitFor();
    assert.equal((await send(operationOf(page, 'searchNearby'))).status, 200);
    const other = await visitor.context.newPage();
    await other.goto(service.url);
    assert.equal(await other.getByLabel('API key').inputValue(), '');
    assert.equal(await other.evaluate('JSON.stringify(localStorage)'), '{}');
    await other.close();
    await page.getByRole('link', { name: 'local-events' }).click();
    await page.waitForURL(`${service.url}/`);
    assert.match(await page.getByLabel('API key').inputValue(), /^lev_/);
    await page.getByRole('link', { name: 'API', exact: true }).click();
    await page.getByRole('button', { name: /^Key in use: lev_/ }).waitFor();
  });

  it('uses a key that an operation returns, and forgets it when the field is emptied', async () => {
    const register = operationOf(page, 'register');
    const registered = JSON.parse((await send(register)).text).api_key;
    assert.equal(await page.evaluate('sessionStorage["local-events-key"]'), registered);
    const rotated = JSON.parse((await send(operationOf(page, 'rotateKey'))).text).api_key;
    assert.equal(await page.evaluate('sessionStorage["local-events-key"]'), rotated);
    await useKey(page, '');
    await page.getByRole('button', { name: 'Use a key' }).waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
  });

  it('has a dialog with the API key first and alone; a token for administrators is behind it', async () => {
    await page.getByRole('button', { name: 'Use a key' }).click();
    const dialog = dialogOf(page);
    assert.deepEqual(await dialog.locator('input:visible').evaluateAll((all) => all.map(({ id }) => id)), [
      'api-key',
    ]);
    assert.equal(await page.evaluate('document.activeElement.id'), 'api-key');
    await page.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const me = operationOf(page, 'getAdministrator');
    assert.equal((await send(me)).status, 401);
    await me.getByRole('button', { name: 'Use a token' }).click();
    await dialog.getByLabel('Token').fill(await service.newToken());
    await dialog.getByRole('button', { name: 'Use this token' }).click();
    await page.keyboard.press('Escape');
    assert.match((await send(me)).text, /admin@example\.com/);
    assert.ok(!(await me.locator('.sample').innerText()).includes('eyJ'), 'the token is not shown');
  });

  it('requests nothing from other hosts and violates no rule of its own policy', async () => {
    const { headers } = await service.client.get('/docs');
    const policy = headers.get('content-security-policy')!;
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    assert.ok(!policy.includes('unsafe'), policy);
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
    assertClean(visitor);
  });
});

describe('the samples of /docs', () => {
  /** Programs that run a sample. */
  const RUN: Record<string, (code: string) => Promise<{ stdout: string }>> = {
    curl: (code) => run('sh', ['-c', code]),
    JavaScript: (code) => run(process.execPath, ['--input-type=module', '--eval', code]),
    Python: (code) => run('python3', ['-c', code]),
  };

  it('work as they are copied, with the key in them', async () => {
    const hasPython = await run('python3', ['--version']).then(
      () => true,
      () => false,
    );
    const visitor = await open();
    const { page } = visitor;
    await page.evaluate(`globalThis.copied = ''; Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: async (text) => { globalThis.copied = text; } } })`);
    await useKey(page, await newKey(service));
    await operationOf(page, 'createEvent')
      .getByLabel('Body')
      .fill(
        JSON.stringify({
          title: "It's ä “test” \\ $HOME `x` \n2",
          start_at: '2031-05-01T18:00:00',
          timezone: 'Europe/Berlin',
          location_name: 'Here',
          lat: 52.5,
          lng: 13.4,
          event_type: 'talk',
          description: null,
        }),
      );
    for (const [language, execute] of Object.entries(RUN)) {
      if (language === 'Python' && !hasPython) continue; // its text is asserted above
      for (const [id, expected] of [
        ['createEvent', "It's ä “test”"],
        ['searchNearby', 'next_cursor'],
        ['getHealth', 'sqlite'],
      ] as const) {
        const form = operationOf(page, id);
        await form.getByLabel(language).check();
        await form.getByRole('button', { name: 'Copy the code' }).click();
        const code = (await page.evaluate('globalThis.copied')) as string;
        assert.ok(
          !(await form.locator('.sample').innerText()).match(/lev_\w{10}/),
          'the whole key is not shown',
        );
        const { stdout } = await execute(code);
        assert.ok(stdout.includes(expected), `${language}: ${code}\n${stdout}`);
      }
    }
    await visitor.context.close();
  });
});
