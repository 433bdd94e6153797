// Administrators' tokens from an identity provider: a real provider issues them, the real service verifies them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { getSigningKey } from '../../src/engines.ts';
import { mintToken } from '../../src/oidc/local-issuer.ts';
import { type Answer, assertError, type Client } from '../support/client.ts';
import {
  type Account,
  OTHER_CLIENT_ID,
  startOidcProvider,
  type TestProvider,
} from '../support/oidc-provider.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

const ACCOUNTS: readonly Account[] = [
  {
    sub: 'ada',
    email: 'Ada@Example.com',
    email_verified: true,
    name: 'Ada Lovelace',
    picture: 'https://example.com/ada.png',
  },
  { sub: 'nameless', email: 'nameless@example.com', email_verified: true },
  { sub: 'hosted', email: 'hosted@Corp.example', email_verified: true, hd: 'corp.example' },
  { sub: 'domain', email: 'domain@CORP.example', email_verified: true },
  { sub: 'subject-1', email: 'unverified@elsewhere.example', email_verified: false },
  { sub: 'subject-2' },

  { sub: 'unverified', email: 'unverified@example.com', email_verified: false },
  { sub: 'unsaid', email: 'ada@example.com' },
  { sub: 'unverified-domain', email: 'someone@corp.example', email_verified: false },
  { sub: 'stranger', email: 'stranger@example.com', email_verified: true },
  { sub: 'other-hd', email: 'someone@corp.example', email_verified: true, hd: 'elsewhere.example' },
  { sub: 'only-hd', email: 'someone@elsewhere.example', email_verified: true, hd: 'corp.example' },
];

const ADMINISTRATORS = {
  ADMIN_EMAILS: 'ADA@example.COM, nameless@example.com, unverified@example.com',
  ADMIN_DOMAINS: 'Corp.Example',
  ADMIN_SUBJECTS: 'subject-1,subject-2',
};

describe('an identity provider for administrators', () => {
  let provider: TestProvider;
  let service: TestService;
  let agent: Client;
  before(async () => {
    provider = await startOidcProvider({ accounts: ACCOUNTS });
    service = await startTestService({
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      ...ADMINISTRATORS,
    });
    agent = await service.newAgent();
  });
  after(async () => {
    await service.close();
    await provider.close();
  });

  const withToken = (token: string) => service.client.with({ authorization: `Bearer ${token}` });
  const me = (token: string) => withToken(token).get('/v1/admin/me');

  /** Tries to read and to delete with the header; asserts that both are refused. */
  const refused = async (
    authorization: string | undefined,
    status: number,
    code: string,
  ): Promise<Answer> => {
    const caller = authorization === undefined ? service.client : service.client.with({ authorization });
    const event = await agent.create();
    const read = await caller.get('/v1/admin/me');
    assertError(read, status, code);
    assertError(await caller.delete(`/v1/admin/events/${event.event_id}`), status, code);
    assert.equal((await agent.get(`/v1/events/${event.event_id}`)).status, 200, 'the event is still there');
    return read;
  };

  describe('200', () => {
    it('returns the holder of a genuine ID token whose e-mail is listed in another case', async () => {
      const answer = await me(await provider.idToken('ada'));
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.body, {
        email: 'Ada@Example.com',
        name: 'Ada Lovelace',
        picture: 'https://example.com/ada.png',
      });
    });

    it('uses the e-mail if there is no name, and an empty picture', async () => {
      const answer = await me(await provider.idToken('nameless'));
      assert.deepEqual(answer.body, {
        email: 'nameless@example.com',
        name: 'nameless@example.com',
        picture: '',
      });
    });

    for (const [sub, why] of [
      ['hosted', 'a verified e-mail of a listed domain that the provider vouches for (hd)'],
      ['domain', 'a verified e-mail of a listed domain without hd'],
      ['subject-1', 'a listed subject whose e-mail is not verified'],
      ['subject-2', 'a listed subject without an e-mail'],
    ] as const) {
      it(`accepts ${why}`, async () => {
        const answer = await me(await provider.idToken(sub));
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.body.email, ACCOUNTS.find((account) => account.sub === sub)!.email ?? '');
        assert.equal(answer.body.picture, '');
      });
    }
  });

  describe('401', () => {
    it('takes a genuine token only from the header', async () => {
      const token = await provider.idToken('ada');
      assertError(await service.client.get('/v1/admin/me', { access_token: token }), 401, 'MISSING_TOKEN');
      const cookie = service.client.with({ cookie: `token=${token}` });
      assertError(await cookie.get('/v1/admin/me'), 401, 'MISSING_TOKEN');
    });

    it('refuses a genuine token for another application', async () => {
      const token = await provider.idToken('ada', OTHER_CLIENT_ID);
      await refused(`Bearer ${token}`, 401, 'INVALID_TOKEN');
    });

    it("refuses a token of the service's own issuer once a provider is configured", async () => {
      const folder = temporaryFolder();
      const signingKey = await getSigningKey(readConfig({ DATA_DIR: folder }));
      const claims = { email: 'ada@example.com', name: undefined, hours: 1 };
      const authorization = `Bearer ${await mintToken(signingKey, claims, Date.now())}`;
      const earlier = await startTestService({ DATA_DIR: folder });
      const accepted = await earlier.client.with({ authorization }).get('/v1/admin/me');
      assert.equal(accepted.status, 200, accepted.text);
      await earlier.close();
      const later = await startTestService({
        DATA_DIR: folder,
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: provider.clientId,
        ...ADMINISTRATORS,
      });
      try {
        const answer = await later.client.with({ authorization }).get('/v1/admin/me');
        assertError(answer, 401, 'INVALID_TOKEN');
      } finally {
        await later.close();
      }
    });
  });

  describe('403', () => {
    for (const [sub, why] of [
      ['stranger', 'an e-mail that is not on the list'],
      ['unverified', 'an e-mail on the list that is not verified'],
      ['unsaid', 'an e-mail on the list without email_verified'],
      ['unverified-domain', 'an e-mail of a listed domain that is not verified'],
      ['other-hd', 'an e-mail of a listed domain with the hd of another'],
      ['only-hd', 'an e-mail of another domain with a listed hd'],
    ] as const) {
      it(`refuses ${why}`, async () => {
        await refused(`Bearer ${await provider.idToken(sub)}`, 403, 'NOT_AN_ADMIN');
      });
    }

    it('refuses the string "true" as email_verified', async () => {
      const now = Math.floor(Date.now() / 1000);
      const token = await provider.sign({
        iss: provider.issuer,
        aud: provider.clientId,
        sub: 'ada',
        email: 'ada@example.com',
        email_verified: 'true',
        exp: now + 60,
      });
      await refused(`Bearer ${token}`, 403, 'NOT_AN_ADMIN');
    });

    it('refuses everyone if nobody is listed', async () => {
      const lonely = await startTestService({
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: provider.clientId,
      });
      try {
        for (const sub of ['ada', 'hosted', 'subject-2']) {
          const token = await provider.idToken(sub);
          const answer = await lonely.client.with({ authorization: `Bearer ${token}` }).get('/v1/admin/me');
          assertError(answer, 403, 'NOT_AN_ADMIN');
        }
      } finally {
        await lonely.close();
      }
    });
  });
});
