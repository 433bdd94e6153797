// The tools in real agent frameworks, installed in an empty folder: OpenAI's Agents SDK converts them to strict functions, the AI
// SDK and LangChain to their own tools. Each lists them, creates, changes and finds an event.
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TOOLS } from '../../src/mcp/tools.ts';
import { npm, run } from '../support/npm.ts';
import { temporaryFolder, useTestService } from '../support/service.ts';

/** With the versions of everything below them: npm would take the newest, which may not work yet. */
const PACKAGES = fileURLToPath(new URL('./frameworks/', import.meta.url));

/** Programs that define `schemas`, the arguments of each tool as a model sees them, and `call`, which returns the text of a result. */
const FRAMEWORKS = {
  "OpenAI's Agents SDK, strict": `
    import { getAllMcpTools, MCPServerStreamableHttp, RunContext } from '@openai/agents';
    const server = new MCPServerStreamableHttp({ url, name: 'events', requestInit: { headers } });
    await server.connect();
    const tools = await getAllMcpTools({ mcpServers: [server], convertSchemasToStrict: true });
    const schemas = Object.fromEntries(tools.map((tool) => [tool.name, tool.strict && tool.parameters]));
    const call = async (name, args) => {
      // A strict model sends every argument: null for those that it does not use.
      const all = Object.fromEntries(schemas[name].required.map((argument) => [argument, args[argument] ?? null]));
      return (await tools.find((tool) => tool.name === name).invoke(new RunContext({}), JSON.stringify(all))).text;
    };
    const close = () => server.close();`,
  'the AI SDK': `
    import { asSchema } from 'ai';
    import { createMCPClient } from '@ai-sdk/mcp';
    const client = await createMCPClient({ transport: { type: 'http', url, headers } });
    const tools = await client.tools();
    const schemas = {};
    for (const [name, tool] of Object.entries(tools)) schemas[name] = await asSchema(tool.inputSchema).jsonSchema;
    const call = async (name, args) =>
      (await tools[name].execute(args, { toolCallId: '1', messages: [] })).content[0].text;
    const close = () => client.close();`,
  LangChain: `
    import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
    import { MultiServerMCPClient } from '@langchain/mcp-adapters';
    const client = new MultiServerMCPClient({ mcpServers: { events: { transport: 'http', url, headers } } });
    const tools = await client.getTools();
    const schemas = Object.fromEntries(
      tools.map((tool) => [tool.name, convertToOpenAITool(tool, { strict: true }).function.parameters]),
    );
    const call = async (name, args) => {
      const result = await tools.find((tool) => tool.name === name).invoke(args);
      return result.text ?? result;
    };
    const close = () => client.close();`,
};

const CREATE = {
  title: 'Lanterns',
  description: 'Kept.',
  start_at: '2031-05-01T18:00:00',
  timezone: 'Europe/Berlin',
  location_name: 'Kulturhaus',
  lat: 52.5264,
  lng: 13.3955,
  url: 'https://example.com/lanterns',
  event_type: 'workshop',
};

/** What every program does. It prints the schemas and the texts of the results. */
const STORY = `
  const texts = [];
  const act = async (name, args) => texts.push(await call(name, args));
  await act('create_event', ${JSON.stringify(CREATE)});
  const event_id = /"event_id":"(\\w{26})"/.exec(texts[0])[1];
  await act('update_event', { event_id, cost: '5 EUR', clear: ['url'] });
  await act('search_events', { lat: 52.52, lng: 13.405, radius: 10, event_type: ['workshop'] });
  await act('list_my_events', { limit: 5 });
  await act('delete_event', { event_id });
  await close();
  console.log(JSON.stringify({ schemas, texts }));`;

/** What OpenAI's documentation of strict functions allows; `anyOf` only with null. */
const STRICT_KEYWORDS = new Set([
  ...['type', 'description', 'enum', 'anyOf', 'properties', 'required', 'additionalProperties', 'items'],
  ...['minimum', 'maximum', 'minItems', 'maxItems'],
]);

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

function assertStrict(schema: Schema, at: string): void {
  for (const keyword of Object.keys(schema)) assert.ok(STRICT_KEYWORDS.has(keyword), `${at}: ${keyword}`);
  const { properties, items, anyOf = [] } = schema;
  for (const part of [...(items ? [items] : []), ...anyOf]) assertStrict(part, at);
  if (!properties) return;
  assert.deepEqual([schema.additionalProperties, schema.required], [false, Object.keys(properties)], at);
  for (const [name, field] of Object.entries(properties)) assertStrict(field, `${at}.${name}`);
}

describe('the tools in', { timeout: 600_000 }, () => {
  const folder = temporaryFolder();
  const service = useTestService();
  before(async () => {
    cpSync(PACKAGES, folder, { recursive: true });
    await npm(['ci', '--no-audit', '--no-fund'], folder);
  });

  for (const [framework, program] of Object.entries(FRAMEWORKS)) {
    it(`${framework} have schemas that it takes, and work`, async () => {
      const { headers } = await service.newAgent();
      const settings = `const url = '${service.url}/mcp'; const headers = ${JSON.stringify(headers)};`;
      writeFileSync(join(folder, 'program.mjs'), `${settings}${program}${STORY}`);
      const printed = await run('node', ['program.mjs'], folder);
      const { schemas, texts } = JSON.parse(printed.trimEnd().split('\n').at(-1)!) as {
        schemas: Record<string, Schema>;
        texts: string[];
      };
      for (const { name, input } of TOOLS) {
        assert.ok(schemas[name], name);
        assert.deepEqual(Object.keys(schemas[name].properties!), Object.keys(input.properties));
        if (framework.endsWith('strict')) assertStrict(schemas[name], name);
      }
      const [created, changed, found, own, deleted] = texts;
      assert.match(created!, /^Published\. .*"when":"Thu 1 May 2031, 18:00 Europe\/Berlin \(UTC\+2\)"/s);
      assert.match(changed!, /^Changed\. /);
      const { description, cost, url } = JSON.parse(changed!.split('\n')[1]!);
      assert.deepEqual([description, cost, url], ['Kept.', '5 EUR', undefined]);
      for (const list of [found!, own!])
        assert.match(
          list,
          /^1 of 1 .*: Thu 1 May 2031, 18:00 UTC\+2,.* workshop: "Lanterns" at "Kulturhaus", cost "5 EUR"/s,
        );
      assert.match(found!, / 0\.\d mi, /);
      assert.match(deleted!, /^Deleted the event /);
    });
  }
});
