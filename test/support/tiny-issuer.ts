// A tiny identity provider: a discovery document, a key set, and tokens with any claims. Nobody can sign in, but it exchanges
// codes as the test says: for responses that a trustworthy provider never sends.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export const CLIENT_ID = 'local-events-test';

/** The response of a path: a value is sent as JSON, a string as it is. */
export interface Scripted {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

type Script = (body: string, headers: IncomingHttpHeaders) => Scripted | Promise<Scripted>;

export interface TinyIssuer {
  readonly url: string;
  /** The requests so far, as method and path. */
  readonly requests: readonly string[];
  /** Responses by path: /token and /userinfo, and any other path that a test wants to break. */
  readonly scripts: Record<string, Script>;
  /** A token for this e-mail, verified; `expiresInSeconds` may be negative. */
  mint(
    email: string,
    expiresInSeconds?: number,
    claims?: JWTPayload,
    header?: { readonly typ?: string },
  ): Promise<string>;
  close(): Promise<void>;
}

/** The same for all issuers of a process: making one takes a quarter of a second. */
let keyPair: ReturnType<typeof generateKeyPair> | undefined;

export async function startTinyIssuer(): Promise<TinyIssuer> {
  keyPair ??= generateKeyPair('RS256');
  const { privateKey, publicKey } = await keyPair;
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }];
  const requests: string[] = [];
  let url = '';
  const scripts: Record<string, Script> = {
    '/.well-known/openid-configuration': () => ({
      body: {
        issuer: url,
        jwks_uri: `${url}/keys`,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        userinfo_endpoint: `${url}/userinfo`,
      },
    }),
    '/keys': () => ({ body: { keys } }),
  };
  const server = createServer(async (request, response) => {
    const path = request.url!.split('?', 1)[0]!;
    requests.push(`${request.method} ${path}`);
    const script: Script = scripts[path] ?? (() => ({ status: 404, body: {} }));
    const { status = 200, headers, body } = await script(await text(request), request.headers);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    scripts,
    mint: (email, expiresInSeconds = 600, claims = {}, header = {}) => {
      const nowSeconds = Math.floor(Date.now() / 1000);
      return new SignJWT({
        email,
        email_verified: true,
        sub: `subject of ${email}`,
        iss: url,
        aud: CLIENT_ID,
        iat: nowSeconds - 3600,
        exp: nowSeconds + expiresInSeconds,
        ...claims,
      })
        .setProtectedHeader({ alg: 'RS256', kid: 'one', ...header })
        .sign(privateKey);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
