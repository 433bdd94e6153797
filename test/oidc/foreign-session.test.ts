// Sessions sealed with the right secret that the service did not make, or no longer holds: what somebody could do who has
// guessed the secret, or whose node has another idea of the time.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Identity } from '../../src/domain/admin.ts';
import { sessionSeal } from '../../src/oidc/session.ts';
import { assertError } from '../support/client.ts';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { startOidcProvider, type TestProvider } from '../support/oidc-provider.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SESSION_SECRET = 'a secret of more than thirty-two characters';
const HOUR_MS = 3_600_000;
/** Subject alone makes her an administrator; nobody has verified the address that she claims. */
const MALLORY = { sub: 'mallory', email: 'boss@example.com', email_verified: false, name: 'Mallory' };

describe('a session', () => {
  let provider: TestProvider;
  let service: TestService;
  before(async () => {
    provider = await startOidcProvider({ accounts: [MALLORY] });
    service = await startTestService({
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
      SESSION_SECRET,
      ADMIN_SUBJECTS: MALLORY.sub,
    });
    provider.addRedirectUri(`${service.url}/admin/callback`);
  });
  after(async () => {
    await service.close();
    await provider.close();
  });

  const forge = async (changed: Partial<Identity>, expiresMs: number) => {
    const { seal } = await sessionSeal({
      secret: SESSION_SECRET,
      binding: [provider.issuer, provider.clientId],
      clock: service.clock.nowMs,
    });
    const identity: Identity = {
      subject: MALLORY.sub,
      email: undefined,
      emailVerified: false,
      hostedDomain: undefined,
      name: undefined,
      picture: undefined,
      local: false,
      ...changed,
    };
    const sealed = await seal({ id: `forged ${expiresMs}`, identity, expiresMs });
    return new ConsoleBrowser(service.client, [['local_events_session', sealed!]]);
  };

  it('counts if it could have been made here', async () => {
    const browser = await forge({}, service.clock.nowMs() + HOUR_MS);
    assert.equal((await browser.get('/v1/admin/me')).status, 200);
  });

  it('does not count if it skips the list of administrators as only tokens of the service may', async () => {
    const browser = await forge({ subject: 'nobody', local: true }, service.clock.nowMs() + HOUR_MS);
    assertError(await browser.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
    assert.equal((await browser.session()).user, null);
  });

  it('does not count if it lasts longer than any', async () => {
    const browser = await forge({}, service.clock.nowMs() + 24 * HOUR_MS);
    assertError(await browser.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
  });

  it('stays ended for a node whose clock is behind the one that forgot others', async () => {
    const newSignedIn = async () => {
      const browser = new ConsoleBrowser(service.client);
      await browser.signIn(provider, MALLORY);
      return browser;
    };
    const browser = await newSignedIn();
    const copy = browser.copy();
    assert.equal((await browser.send('POST', '/admin/logout')).status, 204);
    const other = await forge({}, service.clock.nowMs() + 8 * HOUR_MS);
    const ahead = 8 * HOUR_MS - 60_000;
    service.clock.advance(ahead);
    const late = await forge({}, service.clock.nowMs() + HOUR_MS);
    service.clock.advance(120_000);
    assert.equal((await late.send('POST', '/admin/logout')).status, 204); // what has expired is forgotten
    assert.equal((await other.send('POST', '/admin/logout')).status, 204);
    service.clock.advance(-ahead - 120_000);
    assertError(await copy.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
  });

  it('leaves in the audit log no address that nobody has verified', async () => {
    const browser = new ConsoleBrowser(service.client);
    await browser.signIn(provider, MALLORY);
    const agent = await service.newAgent();
    const { agent_id } = await agent.create();
    const path = `/v1/admin/agents/${agent_id}`;
    assert.equal((await browser.send('PATCH', path, { body: { tier: 'read' } })).status, 200);
    const { entries } = (await browser.get('/v1/admin/audit')).body;
    assert.deepEqual([entries[0].actor_subject, entries[0].actor_email], ['mallory', '']);
  });
});
