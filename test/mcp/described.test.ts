// /openapi.json describes /mcp among its components, because its paths are those of the versioned interface. A validator that
// the service does not use compares the responses of /mcp with that.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Answer, Client } from '../support/client.ts';
import { exchange, request } from '../support/raw-http.ts';
import { useTestService } from '../support/service.ts';
import { call, current, currentCall, post } from './messages.ts';

const SEARCH = { lat: 0, lng: 0 };

interface Described {
  readonly content?: Record<string, object>;
}

describe('/mcp in /openapi.json', () => {
  const service = useTestService({ RATE_LIMIT_READWRITE: '8' });
  let agent: Client;
  let check: (answer: Answer) => void;
  before(async () => {
    agent = await service.newAgent();
    const { body: document } = await service.client.get('/openapi.json');
    assert.equal(document.paths['/mcp'], undefined);
    const { responses } = document.components.pathItems.mcp.post as {
      responses: Record<string, { $ref?: string }>;
    };
    const ajv = new Ajv2020({ allowUnionTypes: true });
    formats.default(ajv);
    ajv.addVocabulary(Object.keys(document));
    ajv.addSchema(document, 'openapi');
    check = ({ status, headers, text }) => {
      const given = responses[status];
      assert.ok(given, `${status} is not described: ${text}`);
      const pointer = given.$ref ?? `#/components/pathItems/mcp/post/responses/${status}`;
      const steps = pointer.split('/').slice(1);
      const { content } = steps.reduce((at, step) => at[step], document) as Described;
      const [type] = (headers.get('content-type') ?? '').split(';');
      assert.equal(content === undefined, text === '', text);
      if (text === '') return;
      assert.ok(content![type!], `${type} is not described for ${status}`);
      if (type !== 'application/json') return;
      const validate = ajv.getSchema(`openapi${pointer}/content/application~1json/schema`)!;
      assert.ok(validate(JSON.parse(text)), `${JSON.stringify(validate.errors)}: ${text}`);
    };
  });

  it('describes every response of /mcp', async () => {
    const send = (raw: string, headers = {}) => agent.send('POST', '/mcp', { raw, headers });
    const answers = [
      await agent.send('POST', '/mcp', currentCall('search_events', SEARCH)),
      await agent.send('POST', '/mcp', currentCall('search_events')),
      await post(agent, call('search_events', SEARCH)),
      await post(agent, { jsonrpc: '2.0', method: 'notifications/initialized' }),
      await post(agent, {}),
      await post(service.client, call('search_events')),
      await exchange(service.url, request('POST', '/mcp', { Host: 'evil.example.com' }, '{}')),
      await agent.send('POST', '/mcp', current('no/such', {})),
      await post(agent, call('search_events'), { accept: 'application/json' }),
      await send(' '.repeat(1_048_577)),
      await send('{}', { 'content-type': 'text/plain' }),
      await send('{'),
      await post(agent, call('search_events', SEARCH)),
      await agent.send('POST', '/mcp', current('tools/list', {})), // the eighth message that calls no tool
      await post(agent, call('search_events', SEARCH)),
    ];
    for (const answer of answers) check(answer);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 202, 400, 401, 403, 404, 406, 413, 415, 422, 200, 200, 429],
    );
  });

  it('does not describe other statuses and content types', () => {
    const answer = { status: 418, headers: new Headers(), text: '', body: undefined };
    assert.throws(() => check(answer), /418 is not described/);
    const other = {
      ...answer,
      status: 200,
      headers: new Headers({ 'content-type': 'text/html' }),
      text: 'x',
    };
    assert.throws(() => check(other), /text\/html is not described/);
  });
});
