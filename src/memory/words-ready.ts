// Whether searches by words are answered from memory: the metric and the listener of both engines.
import type { Metrics } from '../metrics/metrics.ts';

/** Called when the words of all events are in memory, with the time that reading them took. */
export type OnWordsReady = (tookMs: number) => void;

export function measureWords(metrics: Metrics | undefined, areReady: () => boolean): void {
  const help = '1 while searches by words are answered from memory.';
  metrics?.gauge('local_events_words_ready', help, () => (areReady() ? 1 : 0));
}
