// Metrics of requests: clients cannot create series without end, and groups are those of the documents.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestMetrics } from '../../src/http/log/request-metrics.ts';
import { DESCRIBED_ROUTES } from '../../src/http/routes/table.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { MAX_REQUEST_SERIES, parseMetrics } from '../support/metrics.ts';

it('has at most so many series, whatever clients send', () => {
  const metrics = new Metrics();
  const requests = new RequestMetrics(metrics);
  const routes = [...DESCRIBED_ROUTES.map(({ path }) => path), '/docs', '/admin/*', undefined];
  let sent = 0;
  for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'M-SEARCH', 'PROPFIND', 'LINK']) {
    for (const route of routes) {
      for (let status = 200; status < 600; status += 7, sent++) requests.observe(method, route, status, 1);
    }
  }
  const values = parseMetrics(metrics.render());
  assert.ok(values.size <= MAX_REQUEST_SERIES, `${values.size} series`);
  const sumOf = (pattern: RegExp) =>
    [...values].filter(([series]) => pattern.test(series)).reduce((sum, [, value]) => sum + value, 0);
  assert.equal(sumOf(/^http_server_requests_total\{/), sent, 'none is lost');
  assert.equal(sumOf(/^http_server_request_duration_seconds_count\{/), sent);
});

it('has requests in the group of their route', () => {
  const groups: [method: string, route: string | undefined, group: string][] = [
    ['GET', '/v1/events/nearby', 'search'],
    ['GET', '/v1/events/:event_id', 'read'],
    ['HEAD', '/v1/agents/me', 'read'],
    ['PATCH', '/v1/events/:event_id', 'write'],
    ['POST', '/v1/auth/register', 'write'],
    ['GET', '/v1/admin/agents', 'admin'],
    ['POST', '/mcp', 'mcp'],
    ['GET', '/health', 'other'],
    ['GET', '/admin/*', 'other'],
    ['GET', undefined, 'other'],
  ];
  for (const [method, route, group] of groups) {
    const metrics = new Metrics();
    new RequestMetrics(metrics).observe(method, route, 304, 0.4);
    const labels = `route_group="${group}",status_class="3xx"`;
    const values = parseMetrics(metrics.render());
    assert.equal(
      values.get(`http_server_request_duration_seconds_bucket{${labels},le="0.0005"}`),
      1,
      String(route),
    );
    assert.equal(values.get(`http_server_request_duration_seconds_sum{${labels}}`), 0.0004);
  }
});
