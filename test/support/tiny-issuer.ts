// A tiny identity provider: a discovery document, a key set, and tokens with whatever claims a test wants.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export const CLIENT_ID = 'local-events-test';

export interface TinyIssuer {
  readonly url: string;
  /** A token for this e-mail, verified; `expiresInSeconds` may be negative. */
  mint(email: string, expiresInSeconds?: number, claims?: JWTPayload): Promise<string>;
  close(): Promise<void>;
}

export async function startTinyIssuer(): Promise<TinyIssuer> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }];
  let url = '';
  const server = createServer((request, response) => {
    const documents: Record<string, object> = {
      '/.well-known/openid-configuration': { issuer: url, jwks_uri: `${url}/keys` },
      '/keys': { keys },
    };
    const document = documents[request.url ?? ''];
    response.statusCode = document ? 200 : 404;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document ?? {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    mint: (email, expiresInSeconds = 600, claims = {}) => {
      const nowSeconds = Math.floor(Date.now() / 1000);
      return new SignJWT({ email, email_verified: true, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .setSubject(`subject of ${email}`)
        .setIssuer(url)
        .setAudience(CLIENT_ID)
        .setIssuedAt(nowSeconds - 3600)
        .setExpirationTime(nowSeconds + expiresInSeconds)
        .sign(privateKey);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
