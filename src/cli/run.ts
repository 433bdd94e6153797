// The command line: finds and runs the command, turns expected errors into one message and an exit code, and has the help.
import { SettingsError, StartError } from '../domain/errors.ts';
import { VERSION } from '../system.ts';
import { type Command, type Env, type Io, UsageError } from './command.ts';

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

/** By command, in the order in which they are listed. */
const HELP: Readonly<Record<string, string>> = {
  serve: `
  serve         run the service; same as "npm start"`,
  check: `
  check         say what is wrong with settings, disk, clock and data, and what a start would migrate; changes nothing`,
  'admin-token': `
  admin-token   print a token for an administrator; only if no identity provider is configured
                --email you@example.com [--name You] [--hours 1]`,
  agents: `
  agents        list and change agents, also while the service runs
                list                 all agents
                show ID              one agent, its limits and its keys
                deactivate ID        refuse its keys; its events stay
                delete ID            delete it with its keys and events; can be undone for KEEP_DELETED_DAYS
                set-tier ID TIER     read, readwrite or admin
                new-key ID           end all its keys and print a new one, or with [--key-file KEYFILE] write it to this new
                                     file, which only you can read
                [--json]             print JSON, as the administrative API does`,
  import: `
  import        read events from FILE, or from standard input if FILE is -; stop an embedded service first
                FILE --email you@example.com --name You   create a new agent and print its key
                     [--key-file KEYFILE]                 or write it to this new file, which only you can read
                FILE --key-stdin                          use the agent whose key is the first line of standard input
                [--format ndjson|geojson|ics]  default: by file extension; .geojson, .geojsonl and .geojsons are GeoJSON,
                                               .ics, .ical and .ifb are iCalendar, all others are JSON lines
                [--event-type talk] [--audience all] [--timezone Europe/Berlin] [--location-name Hall] [--address Street]
                [--lat=52.5 --lng=13.4]        defaults for fields missing from GeoJSON and iCalendar items`,
  export: `
  export        write events as JSON lines to standard output or a file; the service may be running
                [--agent ID] [--out FILE]`,
  backup: `
  backup        copy all data, including keys, to a new file; the service may be running
                FILE
                --keep 7 FOLDER                to a file named after the time, of which the folder keeps the newest seven`,
  restore: `
  restore       copy a backup to a data folder that is empty or does not exist
                FILE`,
  move: `
  move          copy everything from the data folder to PostgreSQL or back; stop the service first; run again to resume
                --to postgres://user@host/name                from DATA_DIR to PostgreSQL
                --from postgres://user@host/name --to FOLDER  from PostgreSQL to FOLDER
                [--password-file FILE]                        the database's password; or set PGPASSWORD. Without a URL, the
                                                              database is that of DATABASE_URL`,
  mcp: `
  mcp           connect MCP clients that can only start a process: forward standard input and output to the service
                --url http://127.0.0.1:8080                   put an agent's key in LOCAL_EVENTS_API_KEY`,
};

/** The help of this command; of all if it is none. */
function helpOf(name = ''): string {
  const isOne = Object.hasOwn(HELP, name);
  const what = isOne ? name : 'COMMAND';
  return `local-events ${VERSION}: in-person events for software agents

Usage: npx local-events ${what} [OPTIONS]; in a clone: npm run cli -- ${what} [OPTIONS]
${isOne ? HELP[name] : Object.values(HELP).join('')}

Settings are environment variables: see docs/configuration.md.`;
}
