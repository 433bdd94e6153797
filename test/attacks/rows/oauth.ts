// What a stranger can send to the authorization server: pages to be sealed, forms to be opened, registrations, made-up codes and tokens.
import type { Row } from '../row.ts';

const AT_ONCE = 150;
const REDIRECT = 'http://127.0.0.1:9/callback';
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';
const MCP = 'Accept: application/json, text/event-stream\r\n';

export const oauthRequests: Row = {
  title:
    '900 requests to the authorization server at once: pages, forms, registrations, made-up codes and tokens',
  keys: 0,
  // More clients than one network may register.
  statuses: [201, 400, 401],
  attack: async (attacker) => {
    const registration = JSON.stringify({ client_name: 'x'.repeat(200), redirect_uris: [REDIRECT] });
    const registered = await fetch(`http://${attacker.host}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: registration,
    });
    const { client_id } = (await registered.json()) as { client_id: string };
    const authorize = new URLSearchParams({
      response_type: 'code',
      client_id,
      redirect_uri: REDIRECT,
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      state: 'x'.repeat(4_000),
    });
    const form = (path: string, fields: Record<string, string>, head = '') => {
      const body = `${new URLSearchParams(fields)}`;
      return (
        attacker.request('POST', path, undefined, `${head}${FORM}Content-Length: ${body.length}\r\n`) + body
      );
    };
    const token = { client_id, redirect_uri: REDIRECT, code_verifier: 'x'.repeat(43) };
    const requests = [
      attacker.request('GET', `/oauth/authorize?${authorize}`),
      form('/oauth/authorize', { page: 'x'.repeat(15_000) }, 'Sec-Fetch-Site: same-origin\r\n'),
      form('/oauth/token', { ...token, grant_type: 'authorization_code', code: 'lec_x' }),
      form('/oauth/token', { ...token, grant_type: 'refresh_token', refresh_token: 'ler_x' }),
      attacker.post('/oauth/register', registration),
      attacker.post('/mcp/connect', '{}', undefined, `${MCP}Authorization: Bearer lea_${'x'.repeat(43)}\r\n`),
    ];
    while (!attacker.isOver) {
      for (let number = 0; number < AT_ONCE; number++) for (const first of requests) attacker.open({ first });
      await attacker.pause(3_000);
      attacker.leave();
    }
  },
};
