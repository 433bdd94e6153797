// The command line: finds and runs the command, and turns expected errors into one message and an exit code.
import { SettingsError, StartError } from '../domain/errors.ts';
import { VERSION } from '../system.ts';
import { type Command, type Env, type Io, UsageError } from './command.ts';
import { helpOf } from './help.ts';

/** Each command is loaded only when it runs: loading all takes a third of a second. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./serve.ts')).serve,
  check: async () => (await import('./check.ts')).check,
  'admin-token': async () => (await import('./admin-token.ts')).adminToken,
  agents: async () => (await import('./agents.ts')).agents,
  import: async () => (await import('./import/import.ts')).importEvents,
  export: async () => (await import('./export.ts')).exportEvents,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./backup.ts')).restore,
  move: async () => (await import('./move.ts')).move,
  mcp: async () => (await import('./mcp.ts')).mcp,
};

/** Runs the command that `argv` names and resolves with the exit code. Throws only unexpected errors. */
export async function run(argv: readonly string[], env: Env, io: Io): Promise<number> {
  // Without a listener, a reader that closes its end would crash the process. Commands that care add their own.
  for (const stream of [io.stdout, io.stderr]) stream.on('error', () => {});
  try {
    return await runCommand(argv, env, io);
  } catch (error) {
    if (error instanceof UsageError) {
      io.stderr.write(`${error.message}\n\n${helpOf(argv[0])}\n`);
      return 2;
    }
    if (error instanceof StartError) {
      io.stderr.write(`${error.message}\n`);
      return error instanceof SettingsError ? 2 : 1;
    }
    throw error;
  }
}

async function runCommand([name, ...args]: readonly string[], env: Env, io: Io): Promise<number> {
  const print = (text: string) => {
    io.stdout.write(`${text}\n`);
    return 0;
  };
  if (name === undefined || name === 'help' || isHelp(name)) return print(helpOf(args[0]));
  if (name === '--version') return print(VERSION);
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!load) throw new UsageError(`Unknown command "${name}".`);
  // What follows -- is a value, even if it looks like an option.
  const end = args.indexOf('--');
  if (args.slice(0, end < 0 ? undefined : end).some(isHelp)) return print(helpOf(name));
  const command = await load();
  return command(args, env, io);
}

function isHelp(arg: string): boolean {
  return arg === '--help' || arg === '-h';
}
