// `npm run demo`: the service with sample data. Each start recreates the data.
import { relative } from 'node:path';
import { SettingsError, StartError } from '../src/domain/errors.ts';
import { AGENTS, EVENTS, SPAM_TITLE } from './fill.ts';
import { ADMINISTRATOR, startDemo } from './start.ts';

async function main(): Promise<void> {
  const port = Number(process.env.PORT || 8080);
  if (!Number.isInteger(port) || port < 1 || port > 65_534) {
    throw new SettingsError(`PORT must be a whole number from 1 to 65534; it is "${process.env.PORT}".`);
  }
  console.log(`Creating ${EVENTS.toLocaleString('en')} events by ${AGENTS} agents in ten cities …`);
  const { url, folder, key, close } = await startDemo(port, process.env.LOG_LEVEL || 'warn');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close());
  console.log(`
  The front page   ${url}/
  The API          ${url}/docs
  The guide        ${url}/for-agents   for agents, as text: ${url}/llms.txt
  The console      ${url}/admin   sign in as ${ADMINISTRATOR.name}: one click, no password
  The data         ${relative('', folder)}, recreated by each start

Searching needs no key here, publishing does. Your key, and a search in Berlin:

  ${key}
  curl "${url}/v1/events/nearby?lat=52.52&lng=13.405&radius=10&limit=3" -H "X-API-Key: ${key}"

The same functions as tools of an AI agent, here Claude Code:

  claude mcp add --transport http local-events ${url}/mcp --header "X-API-Key: ${key}"

Somebody publishes "${SPAM_TITLE}", one more every ten seconds. Find out who, in the console: who created most in the last 24 hours?

Press Ctrl+C to stop.`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = error instanceof SettingsError ? 2 : 1;
}
