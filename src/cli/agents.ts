// The `agents` command: what administrators do with agents, at the command line. `list` and `show` read the data itself.
// agent-changes.ts makes the changes, agent-text.ts has what people read.
import { type Config, readConfig } from '../config.ts';
import { describeAgentDetails } from '../domain/administration/agent-details.ts';
import { summarise, TIERS, type Tier } from '../domain/agent.ts';
import { AppError, StartError } from '../domain/errors.ts';
import { isUuid } from '../domain/ids.ts';
import type { BulkReader } from '../domain/store.ts';
import { openBulkReader } from '../engines.ts';
import { systemClock } from '../system.ts';
import { type AgentChanges, openAgentChanges } from './agent-changes.ts';
import { agentLines, agentTable } from './agent-text.ts';
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
