// `npm run demo`: the service with sample data. Each start recreates the data.
import { relative } from 'node:path';
import { StartError } from '../src/domain/errors.ts';
import { AGENTS, EVENTS } from './fill.ts';
import { ADMINISTRATOR, startDemo } from './start.ts';

async function main(): Promise<void> {
  const port = Number(process.env.PORT || 8080);
  if (!Number.isInteger(port) || port < 1 || port > 65_534) {
    throw new StartError(`PORT must be a whole number from 1 to 65534; it is "${process.env.PORT}".`);
  }
  console.log(`Creating ${EVENTS.toLocaleString('en')} events by ${AGENTS} agents in ten cities …`);
  const { url, folder, close } = await startDemo(port, process.env.LOG_LEVEL || 'warn');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close());
  console.log(`
  The console   ${url}/admin   sign in as ${ADMINISTRATOR.name}: one click, no password
  The API       ${url}/docs
  The data      ${relative('', folder)}, recreated by each start

Press Ctrl+C to stop.`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
