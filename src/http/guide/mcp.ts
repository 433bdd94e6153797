// The guide's section on MCP: the tools, and the settings for common clients.
import { type Block, code, text } from './blocks.ts';

const INPUT = 'local-events-key';
const KEY = 'LOCAL_EVENTS_API_KEY';

export interface ToolName {
  readonly name: string;
  readonly title: string;
  /** The first says whether it changes nothing. */
  readonly hints: readonly [isReadOnly: boolean, ...others: boolean[]];
}

/** Ways to use the tools besides a key. */
export interface McpWays {
  /** Whether clients can sign in. */
  readonly hasOAuth?: boolean | undefined;
  /** Set if reading needs no key. */
  readonly publicReading?: object | undefined;
}

/** The URLs besides /mcp. */
export function otherUrls(base: string, { hasOAuth, publicReading }: McpWays) {
  return {
    signIn: hasOAuth ? `${base}/mcp/connect` : undefined,
    withoutKey: publicReading ? `${base}/mcp/public` : undefined,
  };
}

export function mcpBlocks(base: string, tools: readonly ToolName[], ways: McpWays): Block[] {
  const url = `${base}/mcp`;
  const { signIn, withoutKey } = otherUrls(base, ways);
  return [
    ...(signIn
      ? [
          text(
            `In chat clients such as claude.ai and ChatGPT, a person pastes \`${signIn}\` as a connector and signs in on the page that opens. There they choose an agent, and whether the client may also publish.`,
          ),
        ]
      : []),
    ...(withoutKey
      ? [text(`At \`${withoutKey}\` the tools that search and read events need neither key nor sign-in.`)]
      : []),
    text(
      `Clients of the Model Context Protocol can use the same functions as tools at \`${url}\` (Streamable HTTP, no sessions). Send the key as \`X-API-Key\` or \`Authorization: Bearer\`; without one the response is a 401. The key’s quota and tier apply.`,
    ),
    {
      kind: 'table',
      head: ['tool', 'what it does'],
      rows: tools.map(({ name, title }) => [`\`${name}\``, title]),
    },
    text(
      'A search returns one line per event for the model: local times with the weekday, distance, type, title, place and cost. Its structured result has all fields. An empty argument counts as left out; `clear` of `update_event` removes fields.',
    ),
    ...mcpClients(base, ways).flatMap(({ name, how, language, settings }) => [
      text(`**${name}**${how && `, ${how}`}`),
      code(language, settings),
    ]),
  ];
}

export interface McpClient {
  readonly name: string;
  /** Name on a tab, where there is little room. */
  readonly shortName: string;
  /** Where the settings go; may be empty. Code is in backticks. */
  readonly how: string;
  readonly language: 'sh' | 'json' | 'toml' | 'text';
  /** `$KEY` or `lev_…` stands for the key, if it is part of the settings. */
  readonly settings: string;
}

/** The settings of common clients. */
export function mcpClients(base: string, ways: McpWays): readonly McpClient[] {
  const url = `${base}/mcp`;
  const { signIn } = otherUrls(base, ways);
  const json = (value: object) => ({ language: 'json', settings: JSON.stringify(value, null, 2) }) as const;
  const client = (name: string, how: string, shortName = name) => ({ name, shortName, how });
  const chat = client(
    'claude.ai, Claude Desktop, ChatGPT and other chat clients',
    'as the URL of a connector; sign in on the page that opens',
    'Chat clients',
  );
  return [
    ...(signIn ? [{ ...chat, language: 'text', settings: signIn } as const] : []),
    {
      ...client('Claude Code', ''),
      language: 'sh',
      settings: `claude mcp add --transport http local-events ${url} --header "X-API-Key: $KEY"`,
    },
    {
      ...client('Cursor', 'in `.cursor/mcp.json`, with the key in the environment'),
      ...json({ mcpServers: { 'local-events': { url, headers: { 'X-API-Key': `\${env:${KEY}}` } } } }),
    },
    {
      ...client('VS Code', 'in `.vscode/mcp.json`; it asks for the key once'),
      ...json({
        inputs: [
          { type: 'promptString', id: INPUT, description: 'API key for local-events', password: true },
        ],
        servers: {
          'local-events': { type: 'http', url, headers: { 'X-API-Key': `\${input:${INPUT}}` } },
        },
      }),
    },
    {
      ...client('Codex', 'in `~/.codex/config.toml`, with the key in the environment'),
      language: 'toml',
      settings: `[mcp_servers.local-events]\nurl = "${url}"\nbearer_token_env_var = "${KEY}"`,
    },
    {
      ...client('Most other clients', '', 'Others'),
      ...json({
        mcpServers: { 'local-events': { type: 'http', url, headers: { Authorization: 'Bearer lev_…' } } },
      }),
    },
    {
      ...client(
        'Claude Desktop and other clients that only start processes',
        `from a clone of the service’s repository, with the key in \`${KEY}\``,
        'Claude Desktop',
      ),
      language: 'sh',
      settings: `npm run -s cli -- mcp --url ${base}`,
    },
  ];
}
