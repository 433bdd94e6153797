// A browser in front of the console, as far as HTTP can tell: it keeps cookies, says where requests come from, and does not
// follow redirects by itself.
import assert from 'node:assert/strict';
import type { Answer, Client } from './client.ts';
import type { TestProvider } from './oidc-provider.ts';

/** Headers of a request from the console's own pages. */
export const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
/** Headers for a typed URL, and for a link on a page of the provider. */
export const TYPED = { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' };
export const LINKED = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };

export type Person = { readonly sub: string } | 'refuses';

export class ConsoleBrowser {
  readonly client: Client;
  readonly cookies: Map<string, string>;

  constructor(client: Client, cookies: Iterable<[string, string]> = []) {
    this.client = client;
    this.cookies = new Map(cookies);
  }

  /** Another browser with the same cookies, as if they were stolen; `client` may be that of another node. */
  copy(client = this.client): ConsoleBrowser {
    return new ConsoleBrowser(client, this.cookies);
  }

  async send(
    method: string,
    path: string,
    { headers = OWN_PAGE, body }: { headers?: Record<string, string>; body?: unknown } = {},
  ): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const all = { ...headers, ...(cookie && { cookie }) };
    const answer = await this.client.send(method, path, { headers: all, body });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (/; Max-Age=0(?:;|$)/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  /** The session as the console would show it. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  async session(): Promise<any> {
    const answer = await this.get('/admin/session');
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  /** Starts a sign-in; returns the URL at the provider. */
  async begin(query = ''): Promise<string> {
    const answer = await this.send('GET', `/admin/login${query}`, { headers: TYPED });
    assert.equal(answer.status, 302, answer.text);
    return answer.headers.get('location')!;
  }

  /** Follows the provider's redirect back to the console. */
  comeBack(address: string): Promise<Answer> {
    const { pathname, search } = new URL(address);
    return this.send('GET', pathname + search, { headers: LINKED });
  }

  /** Signs in from start to end; returns the response of the callback. */
  async signIn(provider: TestProvider, person: Person, query = ''): Promise<Answer> {
    return this.comeBack(await provider.answer(await this.begin(query), person));
  }
}
