// Number and duration of requests, with OpenTelemetry's names. Series are found by method, route and status as they are: no
// text is built and nothing is allocated per request.
import type { Count, Distribution, Metrics } from '../../metrics/metrics.ts';

const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Clients choose methods. OpenTelemetry's name for all others is _OTHER. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The series of one method and route. */
interface RouteSeries {
  readonly labels: { readonly http_request_method: string; readonly http_route: string };
  readonly group: string;
  readonly counts: Map<number, Count>;
  /** By the first digit of the status. */
  readonly durations: (Distribution | undefined)[];
}

export class RequestMetrics {
  readonly #metrics: Metrics;
  readonly #methods = new Map<string, Map<string | undefined, RouteSeries>>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** `route`: the pattern; undefined if the request matched none. */
  observe(method: string, route: string | undefined, status: number, ms: number): void {
    const series = this.#methods.get(method)?.get(route) ?? this.#add(method, route);
    (series.counts.get(status) ?? this.#addStatus(series, status)).value++;
    const statusClass = (status / 100) | 0;
    (series.durations[statusClass] ?? this.#addClass(series, statusClass)).observe(ms / 1_000);
  }

  /** Counts a request that could not be parsed, so that its method and duration are unknown. */
  countUnparsed(status: number): void {
    const series = this.#methods.get('')?.get(undefined) ?? this.#add('', undefined);
    (series.counts.get(status) ?? this.#addStatus(series, status)).value++;
  }

  #add(method: string, route: string | undefined): RouteSeries {
    const known = METHODS.has(method) ? method : '_OTHER';
    const labels = { http_request_method: known, http_route: route ?? '' };
    const group = groupOf(known, labels.http_route);
    const series: RouteSeries = { labels, group, counts: new Map(), durations: [] };
    const routes = this.#methods.get(method) ?? new Map<string | undefined, RouteSeries>();
    this.#methods.set(method, routes.set(route, series));
    return series;
  }

  #addStatus({ labels, counts }: RouteSeries, status: number): Count {
    const count = this.#metrics.counter('http_server_requests_total', 'Requests, by route and status.', {
      ...labels,
      http_response_status_code: String(status),
    });
    counts.set(status, count);
    return count;
  }

  #addClass({ group, durations }: RouteSeries, statusClass: number): Distribution {
    const distribution = this.#metrics.histogram(
      'http_server_request_duration_seconds',
      'From the arrival of the headers to the end of the response, by group of routes and class of status.',
      BOUNDS,
      { route_group: group, status_class: `${statusClass}xx` },
    );
    durations[statusClass] = distribution;
    return distribution;
  }
}

/** Routes whose requests cost about the same. */
function groupOf(method: string, route: string): string {
  if (route === '/v1/events/nearby') return 'search';
  if (route.startsWith('/mcp')) return 'mcp';
  if (route.startsWith('/v1/admin/')) return 'admin';
  if (!route.startsWith('/v1/')) return 'other';
  return method === 'GET' || method === 'HEAD' ? 'read' : 'write';
}
