// Messages that the documents quote are those that the service sends.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileOf, NEW_AGENT } from '../cli/bulk.ts';
import { McpClient } from '../mcp/mcp-client.ts';
import { newEvent } from '../support/client.ts';
import { runHere } from '../support/command.ts';
import { temporaryFolder, useTestService } from '../support/service.ts';

const read = (document: string) => readFileSync(new URL(`../../docs/${document}`, import.meta.url), 'utf8');

const blocksIn = (document: string, language: string) =>
  [...read(document).matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter((match) => match[1] === language)
    .map((match) => match[2]!);

describe('messages in the documents', () => {
  const service = useTestService();

  it('are those of the API, in docs/errors.md', async () => {
    const [notFound, invalid, ...others] = blocksIn('errors.md', 'json').map((text) => JSON.parse(text));
    assert.deepEqual(others, [], 'an example that no test compares');
    const agent = await service.newAgent();
    assert.deepEqual((await agent.get('/v1/events/01JZ9GX4T0QW3N1V8R5Y7K2MHD')).body, notFound);
    const { title, ...event } = newEvent({ lat: 91 });
    assert.deepEqual((await agent.post('/v1/events', event)).body, invalid);
  });

  it('are those of the tools, in docs/mcp.md', async () => {
    const [failure] = blocksIn('mcp.md', '').filter((block) => block.startsWith('VALIDATION_ERROR'));
    const agent = await service.newAgent();
    const client = await McpClient.overHttp(service.url, agent.headers);
    const { isError, text } = await client.call('search_events', { lat: 91 });
    await client.close();
    assert.deepEqual([isError, `${text}\n`], [true, failure]);
  });

  it('are those of an import, in docs/import.md', async () => {
    const quoted = [...read('import.md').matchAll(/`((?:line|feature) \d+: [^`]+)`/g)].map(
      (match) => match[1]!,
    );
    const feature = (geometry: object) => ({ type: 'Feature', geometry, properties: newEvent() });
    const point = feature({ type: 'Point', coordinates: [1, 2] });
    const files = [
      fileOf(`${'\n'.repeat(11)}${JSON.stringify(newEvent({ title: '', lat: '1' }))}\n`),
      fileOf(
        `BEGIN:VCALENDAR\r\n${'X-A:B\r\n'.repeat(10)}BEGIN:VEVENT\r\nSUMMARY:A\r\nDTSTART;TZID=Europe/Berlin:20310501T180000\r\n` +
          'LOCATION:B\r\nGEO:1;2\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n',
        'ics',
      ),
      fileOf(
        [point, point, feature({ type: 'Polygon' })].map((item) => JSON.stringify(item)).join('\n'),
        'geojsonl',
      ),
    ];
    const printed: string[] = [];
    for (const file of files) {
      const { stderr } = await runHere(['import', file, ...NEW_AGENT], { DATA_DIR: temporaryFolder() });
      printed.push(...stderr.split('\n').filter((line) => /^(?:line|feature) /.test(line)));
    }
    assert.deepEqual(quoted.sort(), printed.sort());
  });
});
