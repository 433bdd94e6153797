// The agents of examples/, installed beside the client as their page says, and run unchanged with a model that follows a script. For
// script.ts see package.test.ts.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { LocalEvents } from '../../client/src/local-events.ts';
import { ROOT } from '../docs/readme.ts';
import { npm, PATH, run } from '../support/npm.ts';
import { temporaryFolder, useTestService } from '../support/service.ts';
import { newEvent } from './samples.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';

const SEARCH = { lat: 52.52, lng: 13.405, radius: 10 };

describe('the agents of examples/', { timeout: 600_000 }, () => {
  const service = useTestService();
  const folder = temporaryFolder();
  const examples = join(folder, 'examples');
  before(async () => {
    for (const name of ['client', 'examples']) {
      const isCopied = (path: string) => !['node_modules', 'dist'].includes(basename(path));
      cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter: isCopied });
    }
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['--project', '.'], join(folder, 'client'));
    await npm(['ci', '--ignore-scripts'], examples);
  });

  async function newAgent(): Promise<{ key: string; client: LocalEvents }> {
    const baseUrl = service.url;
    const agent = { email: 'agent@example.com', agent_name: 'test agent' };
    const { api_key: key } = await new LocalEvents({ baseUrl }).register(agent);
    return { key, client: new LocalEvents({ baseUrl, apiKey: key }) };
  }

  async function runExample(
    name: string,
    request: string,
    key: string,
    model: ScriptedModel,
  ): Promise<string> {
    const env = {
      ...{ PATH, LOCAL_EVENTS_URL: service.url, LOCAL_EVENTS_API_KEY: key },
      ...{ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-test', OPENAI_AGENTS_DISABLE_TRACING: '1' },
    };
    const { stdout } = await promisify(execFile)('node', [name, request], {
      cwd: examples,
      env,
      timeout: 120_000,
    });
    return stdout;
  }

  it('compile with strict', async () => {
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext'];
    const lib = [
      '--lib',
      'es2024,dom,dom.iterable,esnext',
      '--types',
      'node',
      '--typeRoots',
      join(ROOT, 'node_modules/@types'),
    ];
    const files = ['script.ts', 'ai-sdk-agent.ts', 'openai-agents-agent.ts'];
    await run(join(ROOT, 'node_modules/.bin/tsc'), [...options, ...lib, ...files], examples);
  });

  it('have at most 60 lines', () => {
    for (const name of ['script.ts', 'ai-sdk-agent.ts', 'openai-agents-agent.ts'])
      assert.ok(readFileSync(join(examples, name), 'utf8').split('\n').length <= 61, name);
  });

  it('with the AI SDK searches and publishes, and reads from an error what to do', async (t) => {
    const { key, client } = await newAgent();
    await client.createEvent(newEvent({ title: 'Evening tour', event_type: 'tour', cost: '5 EUR' }));
    const { title: _, ...place } = newEvent();
    const model = await startScriptedModel(t, [
      { tool: 'search_events', arguments: { place: 'Springfield' } },
      { tool: 'search_events', arguments: { place: 'Mitte, Berlin', q: 'tour' } },
      { tool: 'find_places', arguments: { q: 'Mitte, Berlin' } },
      { tool: 'publish_event', arguments: { ...place, title: 'Night tour' } },
      { text: 'There is an evening tour. I published a night tour.' },
    ]);
    const printed = await runExample('ai-sdk-agent.ts', 'Is there a tour?', key, model);
    assert.equal(printed, 'There is an evening tour. I published a night tour.\n');
    const [failed, found, places, published] = model.results();
    assert.match(failed!, /query\.place: does not name one place clearly; send .* \\?"Springfield, /);
    assert.match(places!, /"timezone":"Europe\/Berlin"/);
    assert.match(
      found!,
      /"total":1.*"title":"Evening tour".*"start_local":"2031-05-01T18:00:00\+02:00".*"cost":"5 EUR"/,
    );
    assert.match(published!, /"title":"Night tour"/);
    assert.deepEqual((await client.listOwnEvents()).events.map(({ title }) => title).sort(), [
      'Evening tour',
      'Night tour',
    ]);
    assert.deepEqual(
      model.requests[0]!.tools.map(({ name }) => name),
      ['search_events', 'find_places', 'publish_event'],
    );
  });

  it('with the OpenAI Agents SDK uses the tools of /mcp, and says what was published', async (t) => {
    const { key, client } = await newAgent();
    const old = await client.createEvent(newEvent({ title: 'Old event' }));
    const { timezone, ...place } = newEvent({ title: 'Lantern night' });
    const model = await startScriptedModel(t, [
      { tool: 'search_events', arguments: { ...SEARCH, q: 'lantern' } },
      { tool: 'create_event', arguments: { ...place, timezone } },
      { tool: 'update_event', arguments: { event_id: old.event_id, cost: '5 EUR' } },
      (results) => ({ text: `Done: ${/"event_id":"(\w{26})"/.exec(results[1]!)?.[1]}` }),
    ]);
    const printed = await runExample('openai-agents-agent.ts', 'Publish a lantern night.', key, model);
    const created = (await client.listOwnEvents()).events.find(({ title }) => title === 'Lantern night');
    assert.deepEqual(printed.trimEnd().split('\n'), [
      `Done: ${created?.event_id}`,
      'Changed: 2031-05-01T18:00:00+02:00 Old event at Kulturhaus Mitte',
      'Published: 2031-05-01T18:00:00+02:00 Lantern night at Kulturhaus Mitte',
    ]);
  });
});
