// Mints a token of the service's own issuer. The token alone goes to standard output, so that it can be captured.
import { parseArgs } from 'node:util';
import { describeData, readConfig } from '../config.ts';
import { StartError } from '../domain/errors.ts';
import { mintToken } from '../oidc/local-issuer.ts';
import { getSigningKey, systemClock } from '../service.ts';
import type { Env, Io } from './command.ts';
import { UsageError } from './usage-error.ts';

const MAX_HOURS = 24;

export async function adminToken(args: string[], env: Env, io: Io): Promise<number> {
  const claims = readOptions(args);
  const config = readConfig(env);
  if (config.oidc) {
    throw new StartError(
      `OIDC_ISSUER is set, so administrators sign in with ${config.oidc.issuer}; a token made here would be refused.`,
    );
  }
  const key = await getSigningKey(config);
  io.stderr.write(`For the service whose data is in ${describeData(config)}:\n`);
  io.stdout.write(`${await mintToken(key, claims, systemClock())}\n`);
  return 0;
}

function readOptions(args: string[]): { email: string; name: string | undefined; hours: number } {
  let values: { email?: string; name?: string; hours?: string };
  try {
    const options = {
      email: { type: 'string' },
      name: { type: 'string' },
      hours: { type: 'string' },
    } as const;
    values = parseArgs({ args, options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { email, name, hours = '1' } = values;
  if (!email || !/^[^\s@]+@[^\s@]+$/.test(email)) throw new UsageError('--email needs an e-mail address.');
  if (!/^\d+(\.\d+)?$/.test(hours) || Number(hours) <= 0 || Number(hours) > MAX_HOURS) {
    throw new UsageError(`--hours needs a number above 0, up to ${MAX_HOURS}.`);
  }
  return { email, name, hours: Number(hours) };
}
