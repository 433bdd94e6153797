// Bytes that the clients of one network may store per hour. Counted after the write, by what it added: a repeated create and
// a refused one cost nothing. So requests in progress can exceed the limit, each by one event.
import { AppError } from '../domain/errors.ts';
import { BYTES_PER_MB } from '../domain/store.ts';
import type { Context } from './context.ts';

/** The unit of the quota; each event is rounded up. In bytes, large limits would exceed the quota's column on PostgreSQL. */
const UNIT_BYTES = 1_024;

/** Where a request came from; undefined if no limit per network applies. */
export type Network = string | undefined;

/** Throws RATE_LIMITED if the network may not store anything more now. */
export async function requireByteQuota({ store, clock, policy }: Context, network: Network): Promise<void> {
  const limit = policy.maxBytesPerNetworkAndHour;
  if (limit === 0 || network === undefined) return;
  const nowMs = clock();
  const { allowed, resetMs } = await store.spend(bucketOf(network), limit / UNIT_BYTES, 0, nowMs);
  if (allowed) return;
  const retryAfterSeconds = Math.max(1, Math.ceil((resetMs - nowMs) / 1000));
  throw new AppError(
    'RATE_LIMITED',
    `All agents of your network together may store at most ${limit / BYTES_PER_MB} MB of events per hour, and have. ` +
      `Retry in ${retryAfterSeconds} s. Searches, deletes and changes that make an event shorter still work.`,
    { retryAfterSeconds, refusedBy: 'quota stored_bytes' },
  );
}

/** Counts bytes that were added. Never fails: the event is stored. */
export async function countBytes(
  { store, clock, policy }: Context,
  network: Network,
  bytes: number,
): Promise<void> {
  const limit = policy.maxBytesPerNetworkAndHour;
  if (limit === 0 || network === undefined || bytes <= 0) return;
  const cost = Math.ceil(bytes / UNIT_BYTES);
  await store.spend(bucketOf(network), limit / UNIT_BYTES, cost, clock()).catch(() => {});
}

function bucketOf(network: string): string {
  return `bytes ${network}`;
}
