// Programs that people use sign in: MCP Inspector, mcp-remote and the AI SDK, installed in an empty folder, with the page operated in Chromium;
// and the conformance suite's scenarios for authorization servers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client as McpSdkClient } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { closeBrowser, getBrowser } from '../console/console.ts';
import { npm, PATH } from '../support/npm.ts';
import { cleanEnv, freePort, launchCommand, type RunningProcess } from '../support/process.ts';
import { temporaryFolder, useTestService } from '../support/service.ts';
import { newClientId } from './flow.ts';

const PACKAGES = fileURLToPath(new URL('./real-clients/', import.meta.url));
const SUITE = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const OPENED = /http:\/\/[^\s"]*\/oauth\/authorize\?[^\s"]+/;

/** A program that uses the AI SDK's client, with a listener for the redirect. */
const AI_SDK = `
  import { createServer } from 'node:http';
  import { auth, createMCPClient } from '@ai-sdk/mcp';
  const url = process.argv[2];
  const kept = {};
  const code = Promise.withResolvers();
  const listener = createServer((request, response) => {
    const { searchParams } = new URL(request.url, 'http://localhost');
    response.end('<title>Back</title>');
    code.resolve(Object.fromEntries(searchParams));
  }).listen(0, '127.0.0.1', async () => {
    const redirectUrl = 'http://127.0.0.1:' + listener.address().port + '/callback';
    const authProvider = {
      redirectUrl,
      clientMetadata: { client_name: 'AI SDK', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
      clientInformation: () => kept.client,
      saveClientInformation: (client) => { kept.client = client; },
      authorizationServerInformation: () => kept.server,
      saveAuthorizationServerInformation: (server) => { kept.server = server; },
      tokens: () => kept.tokens,
      saveTokens: (tokens) => { kept.tokens = tokens; },
      redirectToAuthorization: (page) => console.log(page.href),
      saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
      codeVerifier: () => kept.verifier,
      state: () => 'state',
      saveState: () => {},
      storedState: () => 'state',
    };
    if ((await auth(authProvider, { serverUrl: url })) !== 'AUTHORIZED') {
      const { code: authorizationCode, state: callbackState, iss } = await code.promise;
      await auth(authProvider, { serverUrl: url, authorizationCode, callbackState, iss });
    }
    const client = await createMCPClient({ transport: { type: 'http', url, authProvider } });
    const tools = await client.tools();
    const { structuredContent } = await tools.get_my_agent.execute({}, { toolCallId: '1', messages: [] });
    console.log(JSON.stringify(structuredContent));
    await client.close();
    listener.close();
    listener.closeAllConnections();
  });`;

describe('programs that people use', { timeout: 600_000 }, () => {
  const folder = temporaryFolder();
  const service = useTestService();
  before(async () => {
    cpSync(PACKAGES, folder, { recursive: true });
    await npm(['ci', '--no-audit', '--no-fund', '--ignore-scripts'], folder);
  });
  after(closeBrowser);

  const env = () => ({
    PATH,
    HOME: folder,
    // They open a browser by this program, or print the URL; the test opens it.
    BROWSER: '/bin/echo',
    MCP_AUTO_OPEN_ENABLED: 'true',
    MCP_REMOTE_CONFIG_DIR: join(folder, '.mcp-remote'),
    MCP_INSPECTOR_SECRET_STORE: 'memory',
  });
  const start = (command: string, ...args: string[]) =>
    launchCommand(command, args, { cwd: folder, env: env() });

  /** Opens the page that a program asks for, and lets it act for a new agent. */
  const operatePage = async (url: string) => {
    const key = (await service.client.register('From a program')).headers['x-api-key']!;
    await untilListening(new URL(new URL(url).searchParams.get('redirect_uri')!));
    const context = await (await getBrowser()).newContext();
    const page = await context.newPage();
    await page.goto(url);
    await page.getByLabel('An agent that I have').check();
    await page.getByLabel('Its API key').fill(key);
    await page.getByLabel('Read and publish').check();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL((left) => left.origin !== new URL(service.url).origin);
    return context;
  };

  /** Signs the program in. Returns what it has printed in the end. */
  const signIn = async (program: RunningProcess) => {
    const context = await operatePage(
      await findUrl(
        () => Object.values(program.output()).join(''),
        () => program.child.exitCode !== null,
      ),
    );
    const { code, stdout, stderr } = await program.ended;
    await context.close();
    assert.equal(code, 0, stdout + stderr);
    return stdout + stderr;
  };

  it('MCP Inspector signs in and calls a tool', async () => {
    const inspector = join(folder, 'node_modules/.bin/mcp-inspector');
    const url = `${service.url}/mcp/connect`;
    const call = ['--method', 'tools/call', '--tool-name', 'get_my_agent'];
    const printed = await signIn(start(inspector, '--cli', url, '--transport', 'http', ...call));
    assert.match(printed, /"agent_name": "From a program"/);
  });

  it('mcp-remote signs in, and passes on what a client that starts processes calls', async () => {
    const command = join(folder, 'node_modules/.bin/mcp-remote');
    const args = [`${service.url}/mcp/connect`];
    const transport = new StdioClientTransport({ command, args, env: cleanEnv(env()), stderr: 'pipe' });
    let printed = '';
    transport.stderr!.on('data', (text) => {
      printed += text;
    });
    const client = new McpSdkClient({ name: 'test', version: '1.0.0' });
    const connecting = client.connect(transport, { timeout: 60_000 });
    const context = await operatePage(await findUrl(() => printed));
    await connecting;
    const { structuredContent } = await client.callTool({ name: 'get_my_agent', arguments: {} });
    assert.equal((structuredContent as { agent: { agent_name: string } }).agent.agent_name, 'From a program');
    await client.close();
    await context.close();
  });

  it('the AI SDK signs in and calls a tool', async () => {
    writeFileSync(join(folder, 'program.mjs'), AI_SDK);
    const printed = await signIn(start(process.execPath, 'program.mjs', `${service.url}/mcp/connect`));
    assert.match(printed, /"agent_name":"From a program"/);
  });

  it("the conformance suite's scenarios for authorization servers pass", async () => {
    const port = await freePort();
    const clientId = await newClientId(service.client, {
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
    });
    const issuer = ['--url', `${service.url}/oauth`, '--client-id', clientId, '--port', String(port)];
    const resource = ['--resource', `${service.url}/mcp/connect`];
    const printed = await signIn(start(process.execPath, SUITE, 'authorization', ...issuer, ...resource));
    assert.match(printed, /[1-9]\d* passed, 0 failed/);
  });
});

/** The URL of the page, once all of it is printed. */
async function findUrl(printed: () => string, hasEnded = () => false): Promise<string> {
  for (;;) {
    const [url] = OPENED.exec(printed()) ?? [];
    if (url !== undefined && !printed().endsWith(url)) return url;
    if (hasEnded()) throw new Error(`The program ended: ${printed()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Some programs print the URL before they listen for the redirect. */
async function untilListening({ hostname, port }: URL): Promise<void> {
  for (;;) {
    const socket = connect(Number(port), hostname);
    const isThere = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
