// The command line: finds and runs the command, and turns expected errors into one message and an exit code.
import { StartError } from '../domain/errors.ts';
import { VERSION } from '../system.ts';
import { type Command, type Env, type Io, UsageError } from './command.ts';

/** Each command is loaded only when it runs: loading all takes a third of a second. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./serve.ts')).serve,
  'admin-token': async () => (await import('./admin-token.ts')).adminToken,
  import: async () => (await import('./import.ts')).importEvents,
  export: async () => (await import('./export.ts')).exportEvents,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restore,
  move: async () => (await import('./move.ts')).move,
  mcp: async () => (await import('./mcp.ts')).mcp,
};

const HELP = `local-events ${VERSION}: in-person events for software agents

Usage: npx local-events COMMAND [OPTIONS]; in a clone: npm run cli -- COMMAND [OPTIONS]

  serve         run the service; same as "npm start"
  admin-token   print a token for an administrator; only if no identity provider is configured
                --email you@example.com [--name You] [--hours 1]
  import        read events from FILE, or from standard input if FILE is -; stop an embedded service first
                FILE --email you@example.com --name You   create a new agent and print its key
                FILE --key-stdin                          use the agent whose key is the first line of standard input
                [--format ndjson|geojson|ics]  default: by file extension; .geojson, .geojsonl and .geojsons are GeoJSON,
                                               .ics, .ical and .ifb are iCalendar, all others are JSON lines
                [--event-type talk] [--audience all] [--timezone Europe/Berlin] [--location-name Hall] [--address Street]
                [--lat=52.5 --lng=13.4]        defaults for fields missing from GeoJSON and iCalendar items
  export        write events as JSON lines to standard output or a file; the service may be running
                [--agent ID] [--out FILE]
  backup        copy all data, including keys, to a new file; the service may be running
                FILE
  restore       copy a backup to a data folder that is empty or does not exist
                FILE
  move          copy everything from the data folder to PostgreSQL or back; stop the service first; run again to resume
                --to postgres://user@host/name                from DATA_DIR to PostgreSQL
                --from postgres://user@host/name --to FOLDER  from PostgreSQL to FOLDER
                [--password-file FILE]                        the database's password; or set PGPASSWORD. Without a URL, the
                                                              database is that of DATABASE_URL
  mcp           connect MCP clients that can only start a process: forward standard input and output to the service
                --url http://127.0.0.1:8080                   put an agent's key in LOCAL_EVENTS_API_KEY

Settings are environment variables: see docs/configuration.md.`;

/** Runs the command that `argv` names and resolves with the exit code. Throws only unexpected errors. */
export async function run(argv: readonly string[], env: Env, io: Io): Promise<number> {
  // Without a listener, a reader that closes its end would crash the process. Commands that care add their own.
  for (const stream of [io.stdout, io.stderr]) stream.on('error', () => {});
  try {
    return await runCommand(argv, env, io);
  } catch (error) {
    if (error instanceof UsageError) {
      io.stderr.write(`${error.message}\n\n${HELP}\n`);
      return 2;
    }
    if (error instanceof StartError) {
      io.stderr.write(`${error.message}\n`);
      return 1;
    }
    throw error;
  }
}

async function runCommand([name, ...args]: readonly string[], env: Env, io: Io): Promise<number> {
  const print = (text: string) => {
    io.stdout.write(`${text}\n`);
    return 0;
  };
  if (name === undefined || ['help', '--help', '-h'].includes(name)) return print(HELP);
  if (name === '--version') return print(VERSION);
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!load) throw new UsageError(`Unknown command "${name}".`);
  const command = await load();
  return command(args, env, io);
}
