// The command line: finds the command, runs it, and turns what goes wrong into one clear message and an exit code.
import { StartError } from '../domain/errors.ts';
import { VERSION } from '../service.ts';
import { adminToken } from './admin-token.ts';
import { backup } from './backup.ts';
import type { Command, Env, Io } from './command.ts';
import { exportEvents } from './export.ts';
import { importEvents } from './import.ts';
import { mcp } from './mcp.ts';
import { move } from './move.ts';
import { restore } from './restore.ts';
import { serve } from './serve.ts';
import { UsageError } from './usage-error.ts';

const COMMANDS: Record<string, Command> = {
  serve,
  'admin-token': adminToken,
  import: importEvents,
  export: exportEvents,
  backup,
  restore,
  move,
  mcp,
};

const HELP = `local-events ${VERSION}: in-person events for software agents

Usage: npm run cli -- COMMAND [OPTIONS]

  serve         serve the API; "npm start" is the same
  admin-token   print a token for an administrator, where no identity provider is configured
                --email you@example.com [--name You] [--hours 1]
  import        read events from a file, or from standard input with -; an embedded service must be stopped
                FILE --email you@example.com --name You   for a new agent, whose key is printed
                FILE --key-stdin                          for the agent whose key is the first line of standard input
                [--format ndjson|geojson|ics]  where the ending does not say it: .geojson, .geojsonl and .geojsons are GeoJSON,
                                               .ics, .ical and .ifb iCalendar, all others JSON lines
                [--event-type talk] [--audience all] [--timezone Europe/Berlin] [--location-name Hall] [--address Street]
                [--lat=52.5 --lng=13.4]        for items of GeoJSON and iCalendar that lack it
  export        write events as JSON lines, to standard output or a file; a service may run beside it
                [--agent ID] [--out FILE]
  backup        copy all data, keys included, to a new file; a service may run beside it
                FILE
  restore       put a backup into a data folder that is empty or does not exist
                FILE
  move          take everything from the data folder to PostgreSQL, or back, while no service runs; run it again to go on
                --to postgres://user@host/name                from DATA_DIR
                --from postgres://user@host/name --to FOLDER  the way back
  mcp           speak the Model Context Protocol on standard input and output, for clients that can only start a process
                --url http://127.0.0.1:8080                   with an agent's key in LOCAL_EVENTS_API_KEY

Settings are environment variables; docs/configuration.md lists them.`;

/** Runs the command that `argv` names and resolves with the exit code. Throws only what nobody expected. */
export async function run(argv: readonly string[], env: Env, io: Io): Promise<number> {
  // Without this, a reader that is gone would end the process. Whoever must know of it listens, too.
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
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`There is no command "${name}".`);
  return command(args, env, io);
}
