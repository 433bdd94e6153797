// A model that follows a script: an HTTP server that speaks as much of OpenAI's Responses API as agents need, so that example programs
// run unchanged.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** A call of a tool, or the last text. */
export type Turn = { readonly tool: string; readonly arguments: object } | { readonly text: string };

interface Item {
  readonly type?: string;
  readonly output?: string | readonly { readonly text: string }[];
}

interface ModelRequest {
  readonly model: string;
  readonly input: readonly Item[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: object;
  }[];
}

export interface ScriptedModel {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** Results of the tools as the model reads them, in their order. */
  results(): string[];
}

/** Runs until the end of the test. A turn may depend on the results so far. */
export async function startScriptedModel(
  t: TestContext,
  script: readonly (Turn | ((results: readonly string[]) => Turn))[],
): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const results = () =>
    (requests.at(-1)?.input ?? [])
      .filter(({ type }) => type === 'function_call_output')
      .map(({ output = '' }) =>
        typeof output === 'string' ? output : output.map(({ text }) => text).join('\n'),
      );
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push(JSON.parse(Buffer.concat(chunks).toString()));
    const turn = script[requests.length - 1]!;
    const at = requests.length;
    const body = respond(typeof turn === 'function' ? turn(results()) : turn, at, requests.at(-1)!.model);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests, results };
}

function respond(turn: Turn, at: number, model: string): object {
  const output =
    'tool' in turn
      ? {
          ...{ type: 'function_call', id: `fc_${at}`, call_id: `call_${at}`, status: 'completed' },
          ...{ name: turn.tool, arguments: JSON.stringify(turn.arguments) },
        }
      : {
          ...{ type: 'message', id: `msg_${at}`, role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: turn.text, annotations: [], logprobs: [] }],
        };
  return {
    ...{ id: `resp_${at}`, object: 'response', created_at: 1_800_000_000, status: 'completed', model },
    ...{ output: [output], error: null, incomplete_details: null, parallel_tool_calls: false },
    usage: {
      ...{ input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}
