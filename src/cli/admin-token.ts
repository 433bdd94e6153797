// The `admin-token` command: mints an administrator token with the service's own signing key. Standard output gets only the
// token, so that scripts can capture it.
import { describeData, readConfig } from '../config.ts';
import { StartError } from '../domain/errors.ts';
import { getSigningKey } from '../engines.ts';
import { mintToken } from '../oidc/local-issuer.ts';
import { systemClock } from '../system.ts';
import { type Env, type Io, readArguments, UsageError } from './command.ts';

const MAX_HOURS = 24;

export async function adminToken(args: string[], env: Env, io: Io): Promise<number> {
  const claims = readOptions(args);
  const config = readConfig(env);
  if (config.oidc) {
    throw new StartError(
      `OIDC_ISSUER is set, so the service accepts only tokens from ${config.oidc.issuer}. Sign in there instead.`,
    );
  }
  const key = await getSigningKey(config);
  io.stderr.write(`Token for the service with its data in ${describeData(config)}:\n`);
  io.stdout.write(`${await mintToken(key, claims, systemClock())}\n`);
  return 0;
}

function readOptions(args: string[]): { email: string; name: string | undefined; hours: number } {
  const options = { email: { type: 'string' }, name: { type: 'string' }, hours: { type: 'string' } } as const;
  const { email, name, hours = '1' } = readArguments({ args, options }).values;
  if (!email || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw new UsageError('--email needs an email address, such as you@example.com.');
  if (!/^\d+(\.\d+)?$/.test(hours) || Number(hours) <= 0 || Number(hours) > MAX_HOURS) {
    throw new UsageError(`--hours must be a number above 0 and at most ${MAX_HOURS}.`);
  }
  return { email, name, hours: Number(hours) };
}
