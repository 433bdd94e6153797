// The search: a page with its exact total.
import { encodeNearby, type NearbyQuery } from '../domain/nearby.ts';
import type { Wire } from '../domain/wire.ts';
import type { Context } from './context.ts';

export async function searchNearby({ store, clock }: Context, query: NearbyQuery): Promise<Wire> {
  const { events, total, next } = await store.nearby(query, clock());
  return encodeNearby(events, total, next);
}
