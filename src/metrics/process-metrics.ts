// Memory of the process and delay of its event loop.
import type { Metrics } from './metrics.ts';

/** How often the delay is measured: how much later than asked for a timer runs. */
const INTERVAL_MS = 20;

const DELAY_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Returns a function that ends the measurement. */
export function measureProcess(metrics: Metrics): () => void {
  const memory = (name: string, help: string, of: 'heapTotal' | 'heapUsed' | 'external') =>
    metrics.gauge(name, help, () => process.memoryUsage()[of]);
  metrics.gauge('process_resident_memory_bytes', 'Memory of the process, all threads included.', () =>
    process.memoryUsage.rss(),
  );
  memory('nodejs_heap_size_total_bytes', 'Size of the heap of the main thread.', 'heapTotal');
  memory('nodejs_heap_size_used_bytes', 'What is used of it.', 'heapUsed');
  memory('nodejs_external_memory_bytes', 'Buffers of the main thread, among them the index.', 'external');

  // A histogram, not quantiles since the last read: it does not matter how often, and by how many, it is read.
  const delay = metrics.histogram(
    'nodejs_eventloop_delay_seconds',
    `How much later than asked for a timer of ${INTERVAL_MS} ms ran: what every request had to wait.`,
    DELAY_BOUNDS,
  );
  let dueMs = performance.now() + INTERVAL_MS;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    delay.observe(Math.max(0, nowMs - dueMs) / 1_000);
    dueMs = nowMs + INTERVAL_MS;
  }, INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
