// The text format of the metrics.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Metrics } from '../../src/metrics/metrics.ts';

describe('metrics in the text format', () => {
  it('has counters, with labels in the order in which they were given', () => {
    const metrics = new Metrics();
    const first = { route: '/a', status: '200' };
    metrics.counter('requests_total', 'Requests.', first).value += 2;
    metrics.counter('requests_total', 'Requests.', { route: '/b', status: '404' }).value++;
    metrics.counter('requests_total', 'Requests.', first).value++;
    assert.equal(
      metrics.render(),
      '# HELP requests_total Requests.\n# TYPE requests_total counter\n' +
        'requests_total{route="/a",status="200"} 3\nrequests_total{route="/b",status="404"} 1\n',
    );
  });

  it('has gauges and totals, read when the text is made; a later registration replaces an earlier one', () => {
    const metrics = new Metrics();
    let events = 1;
    metrics.gauge('events', 'Events.', () => events);
    metrics.gauge('connections', 'Connections.', () => 3, { state: 'idle' });
    metrics.gauge('connections', 'Connections.', () => 0, { state: 'busy' });
    metrics.total('dropped_total', 'Dropped.', () => 5);
    events = 7;
    assert.match(metrics.render(), /^# TYPE events gauge\nevents 7$/m);
    assert.match(metrics.render(), /^connections\{state="idle"\} 3\nconnections\{state="busy"\} 0$/m);
    assert.match(metrics.render(), /^# TYPE dropped_total counter\ndropped_total 5$/m);
    metrics.gauge('connections', 'Connections.', () => 4, { state: 'idle' });
    assert.match(metrics.render(), /^connections\{state="idle"\} 4\nconnections\{state="busy"\} 0$/m);
  });

  it('has histograms with cumulative buckets; a value on a bound belongs to its bucket', () => {
    const metrics = new Metrics();
    const seconds = metrics.histogram('seconds', 'Time.', [0.001, 0.01], { group: 'search' });
    for (const value of [0.0005, 0.001, 0.002, 5]) seconds.observe(value);
    assert.equal(
      metrics.render(),
      '# HELP seconds Time.\n# TYPE seconds histogram\n' +
        'seconds_bucket{group="search",le="0.001"} 2\nseconds_bucket{group="search",le="0.01"} 3\n' +
        'seconds_bucket{group="search",le="+Inf"} 4\nseconds_sum{group="search"} 5.0035\nseconds_count{group="search"} 4\n',
    );
  });

  it('escapes label values', () => {
    const metrics = new Metrics();
    metrics.counter('a', 'A.', { name: 'a"b\\c\nd' });
    assert.match(metrics.render(), /^a\{name="a\\"b\\\\c\\nd"\} 0$/m);
  });

  it('has no metric of two types', () => {
    const metrics = new Metrics();
    metrics.counter('a', 'A.');
    assert.throws(() => metrics.gauge('a', 'A.', () => 1), RangeError);
  });

  it('has a limit of series per metric; what exceeds it is counted together', () => {
    const metrics = new Metrics();
    for (let status = 0; status < 1_000; status++)
      metrics.counter('a', 'A.', { status: String(status) }).value++;
    const lines = metrics
      .render()
      .split('\n')
      .filter((line) => line.startsWith('a{'));
    assert.equal(lines.length, 351);
    assert.equal(lines.at(-1), 'a{otel_metric_overflow="true"} 650');
  });
});
