// Counters, gauges and histograms in Prometheus' text format, and those of the process itself. Whoever knows a number registers it
// here, in one line, and keeps what it gets: finding a series takes longer than counting. http/metrics-server.ts serves the text.

export type Labels = Readonly<Record<string, string>>;
type Type = 'counter' | 'gauge' | 'histogram';

/** Series per metric. Beyond it, all further ones share a series with OpenTelemetry's label for that. */
const MAX_SERIES = 350;
const OVERFLOW: Labels = { otel_metric_overflow: 'true' };

/** The metrics of a service. The same name and labels mean the same series, wherever it is registered. */
export class Metrics {
  readonly #families = new Map<string, Family>();

  counter(name: string, help: string, labels: Labels = {}): Count {
    return this.#family(name, help, 'counter').find(labels, () => new Count());
  }

  /** `bounds`: upper bounds of the buckets, ascending. */
  histogram(name: string, help: string, bounds: readonly number[], labels: Labels = {}): Distribution {
    return this.#family(name, help, 'histogram').find(labels, () => new Distribution(bounds));
  }

  /** `read` is called whenever the metrics are read, and must be quick. A later registration of the same series replaces it. */
  gauge(name: string, help: string, read: () => number, labels: Labels = {}): void {
    this.#family(name, help, 'gauge').replace(labels, new Reading(read));
  }

  /** The same for a number that only grows and is counted elsewhere. */
  total(name: string, help: string, read: () => number, labels: Labels = {}): void {
    this.#family(name, help, 'counter').replace(labels, new Reading(read));
  }

  render(): string {
    return [...this.#families.values()].map((family) => family.render()).join('');
  }

  #family(name: string, help: string, type: Type): Family {
    let family = this.#families.get(name);
    if (!family) {
      family = new Family(name, help, type);
      this.#families.set(name, family);
    }
    if (family.type !== type) throw new RangeError(`The metric ${name} is a ${family.type}, not a ${type}.`);
    return family;
  }
}

/** A value, or the values of a histogram, for one set of labels. */
interface Series {
  /** Its lines. `labels` has no braces. */
  render(name: string, labels: string): string;
}

/** All series of a metric. */
class Family {
  readonly type: Type;
  readonly #name: string;
  readonly #head: string;
  readonly #series = new Map<string, Series>();

  constructor(name: string, help: string, type: Type) {
    this.type = type;
    this.#name = name;
    this.#head = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  }

  find<S extends Series>(labels: Labels, create: () => S): S {
    const text = labelText(labels);
    const known = this.#series.get(text);
    if (known) return known as S;
    if (this.#series.size >= MAX_SERIES && labels !== OVERFLOW) return this.find(OVERFLOW, create);
    const series = create();
    this.#series.set(text, series);
    return series;
  }

  replace(labels: Labels, series: Series): void {
    this.#series.set(labelText(labels), series);
  }

  render(): string {
    return (
      this.#head + [...this.#series].map(([labels, series]) => series.render(this.#name, labels)).join('')
    );
  }
}

class Reading implements Series {
  readonly #read: () => number;

  constructor(read: () => number) {
    this.#read = read;
  }

  render(name: string, labels: string): string {
    return `${name}${braced(labels)} ${this.#read()}\n`;
  }
}

/** One series of a counter. */
export class Count implements Series {
  value = 0;

  render(name: string, labels: string): string {
    return `${name}${braced(labels)} ${this.value}\n`;
  }
}

/** One series of a histogram. */
export class Distribution implements Series {
  readonly #bounds: readonly number[];
  /** Observations in each bucket alone; the last one has what exceeds all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > bounds[at]!) at++;
    this.#counts[at]!++;
    this.#sum += value;
  }

  render(name: string, labels: string): string {
    const before = labels === '' ? '' : `${labels},`;
    let count = 0;
    const buckets = Array.from(this.#counts, (inBucket, at) => {
      count += inBucket;
      return `${name}_bucket{${before}le="${this.#bounds[at] ?? '+Inf'}"} ${count}\n`;
    });
    const suffix = braced(labels);
    return `${buckets.join('')}${name}_sum${suffix} ${this.#sum}\n${name}_count${suffix} ${count}\n`;
  }
}

function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replaceAll(/[\\"\n]/g, (found) => ESCAPES[found]!)}"`)
    .join(',');
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function braced(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}

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

/** How often the delay is measured: how much later than asked for a timer runs. */
const DELAY_INTERVAL_MS = 20;

const DELAY_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Measures the memory of the process and the delay of its event loop. Returns a function that ends the measurement. */
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
    `How much later than asked for a timer of ${DELAY_INTERVAL_MS} ms ran: what every request had to wait.`,
    DELAY_BOUNDS,
  );
  let dueMs = performance.now() + DELAY_INTERVAL_MS;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    delay.observe(Math.max(0, nowMs - dueMs) / 1_000);
    dueMs = nowMs + DELAY_INTERVAL_MS;
  }, DELAY_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
