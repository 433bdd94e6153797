// The search: a page with its exact total.
import { encodeNearby, type NearbyQuery } from '../domain/nearby.ts';
import type { Context } from './context.ts';

/** The wire form of the page. */
export async function searchNearby({ store, clock }: Context, query: NearbyQuery): Promise<string> {
  const { records, total, next } = await store.nearby(query, clock());
  return encodeNearby(
    records.map((record) => record.json),
    total,
    next,
  );
}
