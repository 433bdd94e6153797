// Several nodes over one database, and restarts: a sign-in may begin on one node and go on at another, and ends everywhere.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ENGINES } from '../support/engines.ts';
import { freePort } from '../support/process.ts';
import { startTestService } from '../support/service.ts';
import {
  answerPage,
  assertOAuthError,
  authorizePath,
  callTool,
  exchange,
  getCode,
  newClientId,
  newVerifier,
  redirectOf,
  refresh,
  sendForm,
  signIn,
  untilRefused,
} from './flow.ts';

/** Two nodes that a proxy would show as one. */
async function startNodes(test: TestContext) {
  const PORT = String(await freePort());
  const env = { ...(await ENGINES.postgres()), PUBLIC_URL: `http://127.0.0.1:${PORT}` };
  const one = await startTestService({ ...env, PORT }, { until: test });
  const other = await startTestService(env, { until: test });
  return { one: one.client, other: other.client };
}

describe('two nodes', () => {
  it('take each other’s clients, pages, codes and tokens', async (test) => {
    const { one, other } = await startNodes(test);
    const verifier = newVerifier();
    const clientId = await newClientId(one);
    const shown = await other.send('GET', authorizePath(clientId, verifier));
    const fields = { agent: 'new', email: 'you@example.com', agent_name: 'x', scope: 'publish' };
    const registered = await answerPage(one, shown, fields);
    const code = redirectOf(await answerPage(other, registered, {})).get('code')!;
    const tokens = await exchange(one, { ...verifier, clientId, code, key: '' });
    assert.equal(tokens.status, 200, tokens.text);
    assert.equal((await callTool(other, tokens.body.access_token)).status, 200);
    assert.equal((await refresh(other, { clientId, ...tokens.body })).status, 200);
  });

  it('give one of them the tokens for a code that both get at the same moment, and end the grant', async (test) => {
    const { one, other } = await startNodes(test);
    const given = await getCode(one);
    const answers = await Promise.all([one, other].map((node) => exchange(node, given)));
    const [won, ...others] = answers.filter(({ status }) => status === 200);
    assert.ok(won && others.length === 0);
    for (const node of [one, other]) await untilRefused(() => callTool(node, won.body.access_token));
  });

  it('refresh with the same token at the same moment, and both go on', async (test) => {
    const { one, other } = await startNodes(test);
    const signedIn = await signIn(one);
    const answers = await Promise.all([one, other, one].map((node) => refresh(node, signedIn)));
    for (const { status, body } of answers) {
      assert.equal(status, 200);
      assert.equal((await refresh(other, { ...signedIn, ...body })).status, 200);
    }
  });

  it('forget what one of them has ended within a second', async (test) => {
    const { one, other } = await startNodes(test);
    const ended = async (
      end: (signedIn: Awaited<ReturnType<typeof signIn>>) => Promise<{ status: number }>,
    ) => {
      const signedIn = await signIn(one);
      for (const node of [one, other])
        assert.equal((await callTool(node, signedIn.access_token)).status, 200);
      const { status } = await end(signedIn);
      assert.ok(status === 200 || status === 204);
      for (const node of [one, other]) await untilRefused(() => callTool(node, signedIn.access_token));
    };
    await ended(({ refresh_token: token, clientId: client_id }) =>
      sendForm(other, '/oauth/revoke', { token, client_id }),
    );
    await ended(({ key }) => other.with({ 'x-api-key': key }).delete('/v1/agents/me/grants'));
    await ended(({ key }) => other.with({ 'x-api-key': key }).post('/v1/auth/revoke'));
  });
});

for (const [engine, newEnv] of Object.entries(ENGINES)) {
  describe(`a restart, on ${engine}`, () => {
    it('loses no client, code, grant or token', async (test) => {
      const PORT = String(await freePort());
      const env = { ...(await newEnv()), PORT };
      const before = await startTestService(env);
      const signedIn = await signIn(before.client);
      const given = await getCode(before.client, { clientId: signedIn.clientId });
      await before.close();
      const { client } = await startTestService(env, { until: test });
      assert.equal((await callTool(client, signedIn.access_token)).status, 200);
      assert.equal((await refresh(client, signedIn)).status, 200);
      assert.equal((await exchange(client, given)).status, 200);
      assertOAuthError(await exchange(client, given), 400, 'invalid_grant');
    });
  });
}
