// What the conformance suite expects of a server under test: tools, resources and prompts with the names that it calls. They
// replace our tools; everything in front of them is ours. Questions to the client are in conformance-questions.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  fromJsonSchema,
  type GetPromptResult,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { addQuestions, REQUEST_STATE } from './conformance-questions.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

const image = { type: 'image', data: PIXEL, mimeType: 'image/png' } as const;
const audio = { type: 'audio', data: SILENCE, mimeType: 'audio/wav' } as const;
const text = (said: string) => ({ type: 'text', text: said }) as const;
const resource = (uri: string, said: string) =>
  ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: said } }) as const;

const CONTENTS: Record<string, CallToolResult['content']> = {
  test_simple_text: [text('A simple text.')],
  test_image_content: [image],
  test_audio_content: [audio],
  test_embedded_resource: [resource('test://embedded-resource', 'An embedded resource.')],
  test_multiple_content_types: [text('Several.'), image, resource('test://mixed-content-resource', '{}')],
};

export function fixtureServer(): McpServer {
  const server = new McpServer(
    { name: 'conformance-fixtures', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false, subscribe: false },
        prompts: { listChanged: false },
        logging: {},
        completions: {},
      },
      requestState: { verify: REQUEST_STATE.verify },
    },
  );
  addTools(server);
  addQuestions(server);
  addResources(server);
  addPrompts(server);
  server.server.setRequestHandler('completion/complete', () => ({ completion: { values: ['paris'] } }));
  return server;
}

function addTools(server: McpServer): void {
  for (const [name, content] of Object.entries(CONTENTS)) {
    server.registerTool(name, { description: name }, () => ({ content }));
  }
  server.registerTool('test_error_handling', { description: 'Fails.' }, () => {
    throw new Error('It fails on purpose.');
  });
  for (const name of ['test_tool_with_logging', 'test_logging_tool']) {
    server.registerTool(name, { description: 'Logs while it works.' }, async ({ mcpReq }) => {
      for (const step of ['begun', 'half done', 'done']) {
        await mcpReq.log('info', step);
        await sleep(10);
      }
      return { content: [text('It is in the log.')] };
    });
  }
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Tells its progress.' },
    async ({ mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
        const params = { progressToken, progress, total: 100 } as const;
        await mcpReq.notify({ method: 'notifications/progress', params: params as never });
        await sleep(10);
      }
      return { content: [text('Done.')] };
    },
  );
}

function addResources(server: McpServer): void {
  const uris = ['test://static-text', 'test://watched-resource'];
  for (const uri of uris) {
    server.registerResource(uri, uri, { description: uri, mimeType: 'text/plain' }, () => ({
      contents: [{ uri, mimeType: 'text/plain', text: 'A static text.' }],
    }));
  }
  const binary = 'test://static-binary';
  server.registerResource(binary, binary, { description: binary, mimeType: 'image/png' }, () => ({
    contents: [{ uri: binary, mimeType: 'image/png', blob: PIXEL }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { mimeType: 'application/json' }, ({ href }, { id }) => ({
    contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify({ id }) }],
  }));
  // There is no state between requests: subscribing is allowed and has no effect.
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const) {
    server.server.setRequestHandler(method, () => ({}));
  }
}

function addPrompts(server: McpServer): void {
  const said = (...contents: GetPromptResult['messages'][number]['content'][]): GetPromptResult => ({
    messages: contents.map((content) => ({ role: 'user', content })),
  });
  const strings = (...names: string[]) =>
    fromJsonSchema<Record<string, string>>({
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      required: names,
    });
  server.registerPrompt('test_simple_prompt', { description: 'Simple.' }, () => said(text('A prompt.')));
  server.registerPrompt('test_prompt_with_image', { description: 'With an image.' }, () => said(image));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments.', argsSchema: strings('arg1', 'arg2') },
    ({ arg1, arg2 }) => said(text(`${arg1} and ${arg2}`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource.', argsSchema: strings('resourceUri') },
    ({ resourceUri }) => said(resource(resourceUri!, 'A resource.')),
  );
}
