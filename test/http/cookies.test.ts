// The cookies of the console: their flags with and without TLS, the host that people return to after a sign-in, and how
// cookies are read from requests with arbitrary Cookie headers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type Answer, Client } from '../support/client.ts';
import { ConsoleBrowser, OWN_PAGE } from '../support/console-browser.ts';
import { startOidcProvider, type TestProvider } from '../support/oidc-provider.ts';
import { startTestService, type TestService, useTestService } from '../support/service.ts';

const PUBLIC_URL = 'https://events.example.com';
const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true };

/** Every Set-Cookie of a response, without its value. */
const flagsOf = (answer: Answer) =>
  answer.headers.getSetCookie().map((line) =>
    line
      .replace(/=[^;]*/, '=')
      .split('; ')
      .sort()
      .join('; '),
  );
const flags = (name: string, maxAge: number, secure: boolean) =>
  [`${name}=`, 'HttpOnly', `Max-Age=${maxAge}`, 'Path=/', 'SameSite=Lax', ...(secure ? ['Secure'] : [])]
    .sort()
    .join('; ');

/** A client behind a proxy: sends exactly these headers, Host included. */
class ProxiedClient extends Client {
  override async send(
    method: string,
    path: string,
    { headers = {} }: { headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const asked = request(this.url + path, { method, headers: { ...this.headers, ...headers } }).end();
    const [response] = await once(asked, 'response');
    const body = (await response.toArray()).join('');
    const sent = new Headers();
    for (const [name, value] of Object.entries(response.headers)) {
      for (const one of [value].flat()) sent.append(name, String(one));
    }
    const parsed = body.startsWith('{') ? JSON.parse(body) : undefined;
    return { status: response.statusCode, headers: sent, text: body, body: parsed };
  }
}

describe('the cookies of the console', () => {
  let provider: TestProvider;
  before(async () => {
    provider = await startOidcProvider({ accounts: [ADA] });
  });
  after(() => provider.close());

  async function start(test: TestContext, env: Record<string, string> = {}): Promise<TestService> {
    const service = await startTestService(
      {
        ...provider.env,
        ADMIN_SUBJECTS: 'ada',
        ...env,
      },
      { until: test },
    );
    provider.addRedirectUri(`${env.PUBLIC_URL ?? service.url}/admin/callback`);
    return service;
  }

  /** Signs in and out; returns the flags of all cookies set on the way. */
  async function collectFlags(browser: ConsoleBrowser): Promise<string[]> {
    const begun = await browser.send('GET', '/admin/login');
    assert.equal(begun.status, 302, begun.text);
    const back = await browser.comeBack(await provider.answer(begun.headers.get('location')!, ADA));
    assert.equal(back.headers.get('location'), '/admin');
    assert.equal((await browser.session()).is_administrator, true);
    assert.equal((await browser.get('/v1/admin/me')).status, 200);
    const out = await browser.send('POST', '/admin/logout');
    return [begun, back, out].flatMap(flagsOf).map((one) => one.replace(/Max-Age=287\d\d/, 'Max-Age=28800'));
  }

  it('have plain names and no Secure without TLS', async (test) => {
    const service = await start(test);
    assert.deepEqual(await collectFlags(new ConsoleBrowser(service.client)), [
      flags('local_events_signin', 600, false),
      flags('local_events_signin', 0, false),
      flags('local_events_session', 28_800, false),
      flags('local_events_session', 0, false),
    ]);
  });

  const secured = [
    flags('__Host-local_events_signin', 600, true),
    flags('__Host-local_events_signin', 0, true),
    flags('__Host-local_events_session', 28_800, true),
    flags('__Host-local_events_session', 0, true),
  ];

  it('have the prefix __Host- and Secure if PUBLIC_URL is https, behind a trusted proxy', async (test) => {
    const service = await start(test, { PUBLIC_URL, TRUST_PROXY: 'loopback' });
    const headers = { host: '10.0.0.1:8080', 'x-forwarded-host': 'events.example.com' };
    const client = new ProxiedClient(service.url, { ...headers, 'x-forwarded-proto': 'https' });
    assert.deepEqual(await collectFlags(new ConsoleBrowser(client)), secured);
  });

  it('have __Host- and Secure behind a proxy that is not in TRUST_PROXY but passes Host on', async (test) => {
    const service = await start(test, { PUBLIC_URL });
    const client = new ProxiedClient(service.url, { host: 'events.example.com' });
    assert.deepEqual(await collectFlags(new ConsoleBrowser(client)), secured);
  });

  it('have __Host- and Secure without PUBLIC_URL if a trusted proxy says https', async (test) => {
    const service = await start(test, { TRUST_PROXY: 'loopback' });
    provider.addRedirectUri('https://events.internal:8443/admin/callback');
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'events.internal:8443' };
    assert.deepEqual(
      await collectFlags(new ConsoleBrowser(new ProxiedClient(service.url, headers))),
      secured,
    );
  });

  it('have plain names and no Secure if an untrusted client says https', async (test) => {
    const service = await start(test);
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' };
    const answer = await new ProxiedClient(service.url, headers).send('GET', '/admin/login');
    assert.deepEqual(flagsOf(answer), [flags('local_events_signin', 600, false)]);
    const { searchParams } = new URL(answer.headers.get('location')!);
    assert.equal(searchParams.get('redirect_uri'), `${service.url}/admin/callback`);
  });

  it('are ignored without the prefix when there is TLS', async (test) => {
    const service = await start(test, { PUBLIC_URL });
    const browser = new ConsoleBrowser(new ProxiedClient(service.url, { host: 'events.example.com' }));
    await collectFlags(browser);
    await browser.signIn(provider, ADA);
    const sealed = browser.cookies.get('__Host-local_events_session')!;
    assert.equal((await browser.get('/v1/admin/me')).status, 200);
    const planted = new ConsoleBrowser(browser.client, [['local_events_session', sealed]]);
    assert.equal((await planted.get('/v1/admin/me')).status, 401);
  });

  it('of a token last no longer than the token', async (test) => {
    const service = await startTestService({}, { until: test });
    const token = (await service.newAdministrator()).headers.authorization!.slice('Bearer '.length);
    const answer = await new ConsoleBrowser(service.client).send('POST', '/admin/token', { body: { token } });
    const [, maxAge = ''] = /Max-Age=(\d+)/.exec(answer.headers.getSetCookie()[0]!)!;
    assert.ok(Number(maxAge) > 3_500 && Number(maxAge) <= 3_600, maxAge);
  });

  describe('belong to the host of PUBLIC_URL', () => {
    it('a sign-in on another host is redirected there first, with its query', async (test) => {
      const service = await start(test, { PUBLIC_URL });
      for (const [query, there] of [
        ['', 'return=%2Fadmin&here=1'],
        ['?return=/admin/audit&account=choose', 'return=%2Fadmin%2Faudit&here=1&account=choose'],
        ['?return=//evil.example&x=y', 'return=%2Fadmin&here=1'],
      ]) {
        const answer = await service.client.send('GET', `/admin/login${query}`);
        assert.equal(answer.status, 302);
        assert.equal(answer.headers.get('location'), `${PUBLIC_URL}/admin/login?${there}`);
        assert.deepEqual(answer.headers.getSetCookie(), []);
      }
    });

    it('the redirect happens only once, even if a proxy hides the Host of the browser', async (test) => {
      const service = await start(test, { PUBLIC_URL });
      const answer = await service.client.send('GET', '/admin/login?return=/admin/audit&here=1');
      assert.equal(new URL(answer.headers.get('location')!).origin, provider.issuer);
      assert.deepEqual(flagsOf(answer), [flags('__Host-local_events_signin', 600, true)]);
    });

    it('the host may have its port and capital letters', async (test) => {
      const service = await start(test, { PUBLIC_URL });
      for (const host of ['events.example.com:443', 'Events.Example.COM']) {
        const answer = await new ProxiedClient(service.url, { host }).send('GET', '/admin/login');
        assert.equal(new URL(answer.headers.get('location')!).origin, provider.issuer, host);
      }
    });

    it('an invalid Host never reaches the redirect_uri', async (test) => {
      const service = await start(test);
      for (const host of ['', 'a b', '[', 'x:99999', 'evil.example/path?', '@']) {
        const answer = await new ProxiedClient(service.url, { host }).send('GET', '/admin/login');
        const location = answer.headers.get('location');
        const uri = location && new URL(location).searchParams.get('redirect_uri');
        if (answer.status === 302) assert.match(uri!, /^http:\/\/[\w.:-]+\/admin\/callback$/, host);
        else assert.equal(answer.status, 400, host);
      }
    });
  });

  describe('in a request', () => {
    const service = useTestService(async () => ({ ...provider.env, ADMIN_SUBJECTS: 'ada' }));
    let sealed: string;
    before(async () => {
      provider.addRedirectUri(`${service.url}/admin/callback`);
      const browser = new ConsoleBrowser(service.client);
      await browser.signIn(provider, ADA);
      sealed = browser.cookies.get('local_events_session')!;
    });

    const statusWith = async (cookie: string) => {
      const client = new ProxiedClient(service.url, { ...OWN_PAGE, cookie });
      return (await client.send('GET', '/v1/admin/me')).status;
    };
    const name = 'local_events_session';

    it('are found anywhere among other cookies', async () => {
      const others = Array.from({ length: 200 }, (_, at) => `other${at}=${'x'.repeat(20)}`).join('; ');
      for (const cookie of [
        `${name}=${sealed}`,
        `a=b; ${name}=${sealed}`,
        `${name}=${sealed}; a=b`,
        `a=b;${name}=${sealed};c=d`,
        `;;; ; ${name}=${sealed}`,
        `a; =b; "; ${name}=${sealed}`,
        `${others}; ${name}=${sealed}; ${others}`,
        `x${name}=1; ${name}x=2; ${name}=${sealed}; ${name}2=3`,
        `a=${name}; ${name}=${sealed}`,
        `__Host-${name}=x; ${name}=${sealed}`,
      ]) {
        assert.equal(await statusWith(cookie), 200, cookie.slice(0, 80));
      }
    });

    it('are refused if two have the same name', async () => {
      for (const cookie of [
        `${name}=${sealed}; ${name}=${sealed}`,
        `${name}=x; ${name}=${sealed}`,
        `${name}=${sealed}; a=b; ${name}=`,
      ]) {
        assert.equal(await statusWith(cookie), 401, cookie.slice(0, 80));
      }
    });

    it('are refused unless written as the service sets them', async () => {
      for (const cookie of [
        name,
        `${name}=`,
        `${name}="${sealed}"`,
        `${name}= ${sealed}`,
        `${name} =${sealed}`,
        `${name}=${encodeURIComponent(sealed)}%00`,
        `${name}=${sealed}${'A'.repeat(4_096)}`,
        `${name.toUpperCase()}=${sealed}`,
        `a=b,${name}=${sealed}`,
      ]) {
        assert.equal(await statusWith(cookie), 401, cookie.slice(0, 80));
      }
    });
  });
});
