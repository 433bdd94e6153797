// The metric that says whether searches by words are answered from memory, for both engines.
import type { Metrics } from '../metrics/metrics.ts';

export function measureWords(metrics: Metrics | undefined, areReady: () => boolean): void {
  const help = '1 while searches by words are answered from memory.';
  metrics?.gauge('local_events_words_ready', help, () => (areReady() ? 1 : 0));
}
