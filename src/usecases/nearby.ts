// The search: one page of events, with the exact total.
import type { NearbyQuery } from '../domain/nearby.ts';
import type { NearbyPage } from '../domain/store.ts';
import type { Context } from './context.ts';

export function findNearby({ store, clock }: Context, query: NearbyQuery): Promise<NearbyPage> {
  return store.nearby(query, clock());
}
