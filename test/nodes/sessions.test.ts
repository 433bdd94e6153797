// Sessions on two nodes over one database, each a real process: a sign-in or sign-out on one counts on both.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertError } from '../support/client.ts';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { PUBLIC_CLIENT_ID, startOidcProvider, type TestProvider } from '../support/oidc-provider.ts';
import { newDatabase } from '../support/postgres.ts';
import { type Node, startNodes } from './nodes.ts';

const PUBLIC_URL = 'http://events.example';
const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true };
const SESSION_SECRET = 'the same secret on every node, and long';

describe('a session on two nodes', { timeout: 90_000 }, () => {
  let provider: TestProvider;
  before(async () => {
    const redirectUris = [`${PUBLIC_URL}/admin/callback`];
    provider = await startOidcProvider({ accounts: [ADA], redirectUris });
  });
  after(() => provider.close());

  /** Starts a sign-in on one node, returns to the other, and uses the session on both. */
  async function assertShared([first, second]: [Node, Node]): Promise<void> {
    const here = new ConsoleBrowser(first.client);
    const back = await provider.answer(await here.begin('?return=/admin/audit&here=1'), ADA);
    const there = here.copy(second.client);
    assert.equal((await there.comeBack(back)).headers.get('location'), '/admin/audit');
    const again = there.copy(first.client);
    for (const browser of [there, again]) {
      assert.equal((await browser.session()).is_administrator, true);
      assert.equal((await browser.get('/v1/admin/me')).status, 200);
    }
    const newest = new ConsoleBrowser(second.client);
    await newest.comeBack(await provider.answer(await newest.begin('?here=1'), ADA));
    assert.equal((await newest.send('POST', '/admin/logout-everywhere')).status, 204);
    for (const browser of [there, again])
      assertError(await browser.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
  }

  async function assertSignedOut([first, second]: [Node, Node]): Promise<void> {
    const again = new ConsoleBrowser(first.client);
    await again.comeBack(await provider.answer(await again.begin('?here=1'), ADA));
    const there = again.copy(second.client);
    assert.equal((await there.get('/v1/admin/me')).status, 200);
    assert.equal((await again.send('POST', '/admin/logout')).status, 204);
    assertError(await there.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
    assert.equal((await there.session()).user, null);
  }

  const configurations: [what: string, env: (issuer: TestProvider) => Record<string, string>][] = [
    ['the client secret', ({ clientId, clientSecret }) => client(clientId, clientSecret)],
    [
      'SESSION_SECRET',
      ({ clientId, clientSecret }) => ({ ...client(clientId, clientSecret), SESSION_SECRET }),
    ],
    ['a secret stored in the database', () => ({ OIDC_CLIENT_ID: PUBLIC_CLIENT_ID })],
  ];
  function client(OIDC_CLIENT_ID: string, OIDC_CLIENT_SECRET: string): Record<string, string> {
    return { OIDC_CLIENT_ID, OIDC_CLIENT_SECRET };
  }
  for (const [what, envOf] of configurations) {
    it(`is shared, sealed with ${what}`, async () => {
      const env = { ...envOf(provider), OIDC_ISSUER: provider.issuer, ADMIN_SUBJECTS: 'ada', PUBLIC_URL };
      const nodes = (await startNodes(2, await newDatabase(), env)) as [Node, Node];
      await assertShared(nodes);
      await assertSignedOut(nodes);
      for (const node of nodes) assert.equal((await node.stop()).code, 0);
    });
  }

  it('is unknown to a node with another secret', async () => {
    const url = await newDatabase();
    const env = {
      ...provider.env,
      ADMIN_SUBJECTS: 'ada',
      PUBLIC_URL,
    };
    const [first] = await startNodes(1, url, { ...env, SESSION_SECRET });
    const [second] = await startNodes(1, url, { ...env, SESSION_SECRET: `${SESSION_SECRET}er` });
    const here = new ConsoleBrowser(first!.client);
    await here.comeBack(await provider.answer(await here.begin('?here=1'), ADA));
    assert.equal((await here.get('/v1/admin/me')).status, 200);
    assertError(await here.copy(second!.client).get('/v1/admin/me'), 401, 'INVALID_TOKEN');
    for (const node of [first!, second!]) assert.equal((await node.stop()).code, 0);
  });
});
