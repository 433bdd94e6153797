// Hits and misses of a cache, under the same name for every cache of the service.
import type { Count, Metrics } from './metrics.ts';

export interface CacheMetrics {
  readonly hits: Count;
  readonly misses: Count;
}

export function cacheMetrics(metrics: Metrics, cache: string): CacheMetrics {
  const count = (result: string) =>
    metrics.counter('local_events_cache_requests_total', 'What was looked up in the cache.', {
      cache,
      result,
    });
  return { hits: count('hit'), misses: count('miss') };
}
