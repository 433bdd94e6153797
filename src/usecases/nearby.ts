// The search: a page with its exact total.
import { encodeNearby, type NearbyQuery } from '../domain/nearby.ts';
import type { NearbyPage } from '../domain/store.ts';
import type { Wire } from '../domain/wire.ts';
import type { Context } from './context.ts';

export function findNearby({ store, clock }: Context, query: NearbyQuery): Promise<NearbyPage> {
  return store.nearby(query, clock());
}

/** The same as the interface's answer. */
export async function searchNearby(context: Context, query: NearbyQuery): Promise<Wire> {
  const { events, total, next } = await findNearby(context, query);
  return encodeNearby(events, total, next);
}
