// Sessions that are sealed with the right secret but that the service did not create, or has ended: what an attacker who
// guessed the secret could do, or a node with a wrong clock.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Identity } from '../../src/domain/administration/admin.ts';
import { sessionSeal } from '../../src/oidc/seal.ts';
import { assertError } from '../support/client.ts';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { startOidcProvider, type TestProvider } from '../support/oidc-provider.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SESSION_SECRET = 'a secret of more than thirty-two characters';
const HOUR_MS = 3_600_000;
/** An administrator only by her subject; the e-mail that she claims is not verified. */
const MALLORY = { sub: 'mallory', email: 'boss@example.com', email_verified: false, name: 'Mallory' };

describe('a session', () => {
  let provider: TestProvider;
  let service: TestService;
  before(async () => {
    provider = await startOidcProvider({ accounts: [MALLORY] });
    service = await startTestService({
      ...provider.env,
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

  it('is accepted if the service could have created it', async () => {
    const browser = await forge({}, service.clock.nowMs() + HOUR_MS);
    assert.equal((await browser.get('/v1/admin/me')).status, 200);
  });

  it('is refused if it bypasses the list of administrators, as only minted tokens may', async () => {
    const browser = await forge({ subject: 'nobody', local: true }, service.clock.nowMs() + HOUR_MS);
    assertError(await browser.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
    assert.equal((await browser.session()).user, null);
  });

  it('is refused if it lasts longer than the maximum', async () => {
    const browser = await forge({}, service.clock.nowMs() + 24 * HOUR_MS);
    assertError(await browser.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
  });

  it('stays ended for a node whose clock is behind, after another node forgot expired sessions', async () => {
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
    assert.equal((await late.send('POST', '/admin/logout')).status, 204); // expired sessions are forgotten
    assert.equal((await other.send('POST', '/admin/logout')).status, 204);
    service.clock.advance(-ahead - 120_000);
    assertError(await copy.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
  });

  it('leaves no unverified e-mail in the audit log', async () => {
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
