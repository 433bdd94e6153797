// The TypeScript client against the API description of a running service: every operation for agents, every field and every error
// code has a counterpart. Each failure says what to do.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { LocalEvents } from '../../client/src/local-events.ts';
import {
  type AgentOperation,
  type Api,
  agentOperations,
  format,
  queryTypeOf,
  typesOf,
} from '../../scripts/build-client-types.ts';
import { ROOT } from '../docs/readme.ts';
import { temporaryFolder, useTestService } from '../support/service.ts';

const TYPES = readFileSync(join(ROOT, 'client/src/types.ts'), 'utf8');
const ADD_METHOD = 'Add a method of this name to client/src/local-events.ts, as its neighbours are';
const REGENERATE = 'Run "npm run build:client-types" and commit client/src/types.ts.';

type Method = (...parameters: unknown[]) => Promise<unknown>;

/** Parameters of its method, by position. */
function parametersOf(operation: AgentOperation): { type: string; isOptional: boolean; sample: unknown }[] {
  const { parameters, body, isBodyRequired } = operation;
  const query = queryTypeOf(operation);
  // A search needs a place or coordinates, so neither is required.
  const isQueryRequired =
    operation.operationId === 'searchNearby' ||
    parameters.some((each) => each.in === 'query' && each.required);
  return [
    ...parameters
      .filter((each) => each.in === 'path')
      .map(({ name }) => ({ type: 'string', isOptional: false, sample: `{${name}}` })),
    ...(query ? [{ type: query, isOptional: !isQueryRequired, sample: {} }] : []),
    // A body without fields is not a parameter.
    ...(body?.$ref ? [{ type: body.$ref.split('/').at(-1)!, isOptional: !isBodyRequired, sample: {} }] : []),
  ];
}

function resultOf({ content }: AgentOperation): string {
  return content['application/json']?.schema.$ref?.split('/').at(-1) ?? 'void';
}

/** Request headers that options of methods stand for; `strict` of the settings stands for Prefer. */
const OPTIONS: Readonly<Record<string, string>> = { 'If-Match': 'ifMatch', 'If-None-Match': 'ifNoneMatch' };

describe('the client', () => {
  const service = useTestService();
  let api: Api;
  let operations: AgentOperation[];
  before(async () => {
    api = (await service.client.get('/openapi.json')).body as Api;
    operations = agentOperations(api);
  });

  it('has the types of the description: every field, parameter and error code', () => {
    assert.ok(operations.length >= 10);
    assert.ok(
      format(typesOf(api)) === TYPES,
      `client/src/types.ts is not what the service describes. ${REGENERATE}`,
    );
    const { code } = api.components.schemas.ErrorResponse!.properties!.error!.properties!;
    for (const each of code!.enum!)
      assert.ok(TYPES.includes(`\n  ${each}: `), `client/src/types.ts lacks ${each}. ${REGENERATE}`);
  });

  it('has a method for every operation of agents, which sends that request', async () => {
    for (const operation of operations) {
      const { operationId, method, path, parameters } = operation;
      let sent = '';
      const client = new LocalEvents({
        baseUrl: 'http://service.invalid',
        apiKey: 'lev_key',
        fetch: async (url, options) => {
          const { pathname } = new URL(String(url));
          sent = `${options!.method} ${decodeURIComponent(pathname)} ${JSON.stringify(options!.headers)}`;
          return new Response('{}', { headers: { 'content-type': 'application/json' } });
        },
      });
      const call = (client as unknown as Record<string, Method>)[operationId];
      assert.ok(call, `The client has no ${operationId}: ${method} ${path}. ${ADD_METHOD}.`);
      const headers = parameters.filter((each) => each.in === 'header' && each.name !== 'Prefer');
      const options = Object.fromEntries(headers.map(({ name }) => [OPTIONS[name] ?? name, `"${name}"`]));
      await call.apply(client, [...parametersOf(operation).map(({ sample }) => sample), options]);
      assert.ok(
        sent.startsWith(`${method} ${path} `),
        `${operationId} sends ${sent} instead of ${method} ${path}.`,
      );
      for (const { name } of headers)
        assert.ok(
          sent.includes(JSON.stringify(`"${name}"`)),
          `${operationId} has no option that sends ${name}.`,
        );
    }
  });

  it('has parameters and results of these types', () => {
    const folder = temporaryFolder();
    const checks = operations.map((operation) => {
      const parameters = parametersOf(operation).map(({ type, isOptional }, at) =>
        `p${at}${isOptional ? '?' : ''}: types.${type}`.replace('types.string', 'string'),
      );
      const result = resultOf(operation) === 'void' ? 'void' : `types.${resultOf(operation)}`;
      const names = parameters.map((_, at) => `p${at}`);
      return [
        `export const ${operation.operationId} = (${parameters.join(', ')}): Promise<${result}> =>`,
        `  client.${operation.operationId}(${names.join(', ')});`,
      ].join('\n');
    });
    const source = [
      `import type { LocalEvents } from '${ROOT}client/src/local-events.ts';`,
      `import type * as types from '${ROOT}client/src/types.ts';`,
      'declare const client: LocalEvents;',
      ...checks,
    ];
    mkdirSync(join(folder, 'check'));
    writeFileSync(join(folder, 'check/check.ts'), source.join('\n'));
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions'];
    const target = [
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--lib',
      'es2022,dom,dom.iterable',
      '--types',
      '',
    ];
    try {
      const args = [...options, ...target, join(folder, 'check/check.ts')];
      execFileSync(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd: folder, encoding: 'utf8' });
    } catch (error) {
      const { stdout } = error as { stdout?: string };
      throw new Error(
        `A method of client/src/local-events.ts has other types than the operation:\n${stdout}`,
      );
    }
  });
});
