// Length and waiting times of a queue, under the same names for every queue of the service.
import type { Distribution, Metrics } from './metrics.ts';

const WAIT_BOUNDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5];

/** Registers the queue. Returns the distribution of waiting times, in seconds, of what had to wait and then began. */
export function queueMetrics(metrics: Metrics, queue: string, length: () => number): Distribution {
  metrics.gauge('local_events_queue_length', 'What waits in the queue.', length, { queue });
  return metrics.histogram(
    'local_events_queue_wait_seconds',
    'How long it waited before it began, of what had to wait.',
    WAIT_BOUNDS,
    { queue },
  );
}
