// The `agents` command: what administrators do with agents, at the command line. `list` and `show` read the data itself.
// agent-changes.ts makes the changes.
import { type Config, readConfig } from '../config.ts';
import { describeAgentDetails } from '../domain/administration/agent-details.ts';
import { summarise, TIERS, type Tier } from '../domain/agent.ts';
import { AppError, StartError } from '../domain/errors.ts';
import { isUuid } from '../domain/ids.ts';
import type { BulkReader } from '../domain/store.ts';
import { openBulkReader } from '../engines.ts';
import { systemClock } from '../system.ts';
import { type AgentChanges, openAgentChanges } from './agent-changes.ts';
import { type Env, type Io, printable, readArguments, UsageError } from './command.ts';
import { openKeyOutput } from './key-output.ts';

const ACTIONS = ['list', 'show', 'deactivate', 'delete', 'set-tier', 'new-key'] as const;

interface Options {
  readonly action: (typeof ACTIONS)[number];
  /** Empty for `list`. */
  readonly agentId: string;
  /** Only for `set-tier`. */
  readonly tier: Tier | undefined;
  readonly isJson: boolean;
  readonly keyFile: string | undefined;
}

export async function agents(args: string[], env: Env, io: Io): Promise<number> {
  const options = readOptions(args);
  const config = readConfig(env);
  try {
    if (options.action === 'list') await list(config, options, io);
    else if (options.action === 'show') await show(config, options, io);
    else await change(config, options, io);
    return 0;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { message, cause } = error;
    throw new StartError(cause instanceof Error ? `${message} (${cause.message})` : message, {
      cause: error,
    });
  }
}

function readOptions(args: string[]): Options {
  const options = { json: { type: 'boolean' }, 'key-file': { type: 'string' } } as const;
  const { positionals, values } = readArguments({ args, allowPositionals: true, options });
  const [action, ...operands] = positionals;
  const { json: isJson = false, 'key-file': keyFile } = values;
  if (!isAction(action)) throw new UsageError(`agents needs one of ${ACTIONS.join(', ')}.`);
  const names = { list: [], 'set-tier': ['ID', 'TIER'] }[action as 'list'] ?? ['ID'];
  if (operands.length !== names.length) {
    throw new UsageError(`agents ${[action, ...names].join(' ')}: ${operands.length} operands are given.`);
  }
  const [agentId = '', tier] = operands;
  if (action !== 'list' && !isUuid(agentId)) {
    throw new UsageError('ID must be the ID of an agent (a UUID), as "agents list" prints it.');
  }
  if (action === 'set-tier' && !isTier(tier))
    throw new UsageError(`TIER must be one of ${TIERS.join(', ')}.`);
  if (keyFile !== undefined && action !== 'new-key') throw new UsageError('--key-file is for new-key.');
  if (keyFile?.trim() === '') throw new UsageError('--key-file needs a file name.');
  return { action, agentId: agentId.toLowerCase(), tier: tier as Tier | undefined, isJson, keyFile };
}

function isAction(text: string | undefined): text is Options['action'] {
  return (ACTIONS as readonly (string | undefined)[]).includes(text);
}

function isTier(text: string | undefined): text is Tier {
  return (TIERS as readonly (string | undefined)[]).includes(text);
}

async function list(config: Config, { isJson }: Options, io: Io): Promise<void> {
  const found = (await reading(config, (reader) => reader.listAgents())).map(summarise);
  print(io, isJson ? toJson({ agents: found, total: found.length }) : agentTable(found));
}

async function show(config: Config, { agentId, isJson }: Options, io: Io): Promise<void> {
  const nowMs = systemClock();
  const found = await reading(config, (reader) => reader.findAgentDetails(agentId, nowMs));
  if (!found) throw noAgent(agentId);
  const { quota, ...details } = describeAgentDetails(found, undefined, config.policy);
  // A running service counts requests in its memory.
  const { events, bytes } = quota;
  const shown = { ...details, quota: { events, bytes } };
  print(io, isJson ? toJson(shown) : agentLines(shown));
}

async function change(config: Config, options: Options, io: Io): Promise<void> {
  const { agentId, isJson } = options;
  const found = await reading(config, (reader) => reader.findAgentDetails(agentId, systemClock()));
  if (!found) throw noAgent(agentId);
  const { agent } = found;
  const output = options.action === 'new-key' ? openKeyOutput(options.keyFile, io) : undefined;
  let changes: AgentChanges | undefined;
  try {
    changes = await openAgentChanges(config, agentId);
    const name = `${printable(agent.agent_name)} (${agentId})`;
    if (options.action === 'delete') {
      await changes.delete(agentId);
      const days = config.policy.keepDeletedDays;
      const undo =
        days > 0 ? `It can be restored in the console for ${days} days.` : 'It cannot be restored.';
      print(
        io,
        isJson
          ? toJson({ id: agentId, deleted: true })
          : `${name} is deleted, with its keys and events. ${undo}`,
      );
    } else if (output) {
      const { api_key, ...others } = await changes.newKey(agentId);
      if (options.keyFile !== undefined || !isJson) output.write(api_key);
      if (isJson) print(io, toJson(options.keyFile === undefined ? { api_key, ...others } : others));
      io.stderr.write(`${name} has a new key. All its other keys have ended.\n`);
    } else {
      const update = options.action === 'set-tier' ? { tier: options.tier! } : { is_active: false };
      const changed = await changes.update(agentId, update);
      const state = changed.is_active ? 'active' : 'deactivated, so its keys are refused';
      print(io, isJson ? toJson(changed) : `${name} now has the tier ${changed.tier}, and is ${state}.`);
    }
  } finally {
    output?.discard();
    await changes?.close();
  }
}

async function reading<T>(config: Config, read: (reader: BulkReader) => Promise<T>): Promise<T> {
  const reader = await openBulkReader(config, 'agents');
  try {
    return await read(reader);
  } finally {
    await reader.close();
  }
}

function noAgent(agentId: string): StartError {
  return new StartError(`No agent has the ID ${agentId}. "agents list" lists all.`);
}

function print(io: Io, text: string): void {
  io.stdout.write(`${text}\n`);
}

function toJson(value: object): string {
  return JSON.stringify(value, undefined, 2);
}

type Summary = ReturnType<typeof summarise>;
type Details = ReturnType<typeof describeAgentDetails>;

/** Longer names are cut: a table of them would be hard to read. */
const MAX_NAME_LENGTH = 40;

const HEAD = ['ID', 'NAME', 'E-MAIL', 'TIER', 'STATE', 'EVENTS', 'LAST USED'];

function agentTable(agents: readonly Summary[]): string {
  const rows = agents.map((agent) => [
    ...[agent.id, shorten(printable(agent.agent_name)), printable(agent.email), agent.tier],
    ...[stateOf(agent), String(agent.event_count), agent.last_used_at ?? 'never'],
  ]);
  const widths = HEAD.map((head, at) =>
    rows.reduce((most, row) => Math.max(most, row[at]!.length), head.length),
  );
  return [HEAD, ...rows]
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function agentLines(agent: Omit<Details, 'quota'> & { quota: Omit<Details['quota'], 'requests'> }): string {
  const { events, bytes } = agent.quota;
  const of = ({ used, limit }: typeof events) =>
    limit === null ? `${used}, no limit` : `${used} of ${limit}`;
  const lines = [
    ['id', agent.id],
    ['name', printable(agent.agent_name)],
    ['e-mail', printable(agent.email)],
    ['tier', agent.tier],
    ['state', stateOf(agent)],
    ['created', agent.created_at],
    ['last used', agent.last_used_at ?? 'never'],
    ['events', of(events)],
    ['bytes', of(bytes)],
    ...agent.keys.map((key) => [
      'key',
      [
        `${key.prefix}…  created ${key.created_at}, last used ${key.last_used_at ?? 'never'}`,
        ...(key.expires_at === null || key.expires_at === undefined ? [] : [`expires ${key.expires_at}`]),
      ].join(', '),
    ]),
  ];
  if (agent.keys.length === 0) lines.push(['key', 'none']);
  return lines.map(([name, value]) => `${name!.padEnd(10)} ${value}`).join('\n');
}

function stateOf({ is_active }: Summary): string {
  return is_active ? 'active' : 'deactivated';
}

function shorten(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH - 1).toWellFormed()}…` : name;
}
