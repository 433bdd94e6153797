// The dashboard and the alert rules against a running service: every metric and label that they name exists, and every alert has
// its section in the documents.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ENGINES } from '../support/engines.ts';
import { freePort } from '../support/process.ts';
import { startTestService } from '../support/service.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const WORDS = new Set(['by', 'sum', 'rate', 'increase', 'histogram_quantile', 'label_values']);
/** Labels that Prometheus adds. */
const ADDED = new Set(['instance', 'job', 'le']);

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const dashboard = JSON.parse(read('deploy/grafana-dashboard.json')) as {
  panels: Panel[];
  templating: { list: { query: string | { query: string } }[] };
};
const panels = dashboard.panels.flatMap(({ targets = [] }) => targets);
const rules = read('deploy/alerts.yml')
  .split(/^ {6}- /m)
  .slice(1)
  .map((text) => ({
    alert: /^alert: (\w+)$/m.exec(text)![1]!,
    expr: /^ {8}expr: '(.+)'$/m.exec(text)![1]!,
    summary: /^ {10}summary: '(.+)'$/m.exec(text)![1]!,
  }));

/** The metrics that the expression names, and all labels that it uses. */
function namesIn(expr: string): { metrics: string[]; labels: string[] } {
  const labels = [
    ...[...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, found]) => [...found!.matchAll(/(\w+)\s*=/g)]),
    ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, found]) => [...found!.matchAll(/(\w+)/g)]),
  ].map((match) => match[1]!);
  const rest = expr.replaceAll(/\{[^}]*\}|\bby \([^)]*\)|\[[^\]]*\]/g, ' ');
  const metrics = [...rest.matchAll(/(?<![\w.$])[a-z_][a-z_]+\b/g)]
    .map(([name]) => name)
    .filter((name) => !WORDS.has(name) && !ADDED.has(name));
  return { metrics, labels };
}

describe('deploy/grafana-dashboard.json and deploy/alerts.yml', () => {
  /** Names of metrics, and of their labels, of both engines. */
  const known = new Map<string, Set<string>>();
  const families = new Set<string>();
  const closing: (() => Promise<void>)[] = [];
  before(async () => {
    for (const engine of Object.values(ENGINES)) {
      const port = String(await freePort());
      const service = await startTestService({ ...(await engine()), METRICS_PORT: port });
      closing.push(() => service.close());
      const agent = await service.newAgent();
      await agent.create();
      await agent.nearby();
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      for (const [, name, labels = ''] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? /gm)) {
        const found = known.get(name!) ?? new Set();
        for (const [, label] of labels.matchAll(/(\w+)="/g)) found.add(label!);
        known.set(name!, found);
      }
      for (const [, name] of text.matchAll(/^# TYPE (\S+)/gm)) families.add(name!);
    }
  });
  after(() => Promise.all(closing.map((close) => close())));

  const expressions = () => [
    ...panels.map(({ expr }) => expr),
    ...dashboard.templating.list.map(({ query }) => (typeof query === 'string' ? '' : query.query)),
    ...rules.map(({ expr }) => expr),
  ];

  it('name only metrics and labels that exist', () => {
    for (const expr of expressions()) {
      const { metrics, labels } = namesIn(expr);
      const ownLabels = new Set(metrics.flatMap((name) => [...(known.get(name) ?? [])]));
      const unknown = metrics.filter((name) => !known.has(name) && name !== 'up');
      assert.deepEqual(unknown, [], expr);
      const wrong = labels.filter((label) => !ownLabels.has(label) && !ADDED.has(label));
      assert.deepEqual(wrong, [], expr);
    }
    assert.deepEqual(namesIn('sum by (a) (rate(no_such_metric_total{b="c"}[5m])) > 4e9'), {
      metrics: ['no_such_metric_total'],
      labels: ['b', 'a'],
    });
  });

  it('show every metric', () => {
    const shown = panels.flatMap(({ expr }) => namesIn(expr).metrics);
    const missing = [...families].filter(
      (family) => !shown.some((name) => name.replace(/_(?:bucket|sum|count)$/, '') === family),
    );
    assert.deepEqual(missing, []);
  });

  it('use labels in texts that their expressions have', () => {
    const texts = [
      ...panels.map(({ expr, legendFormat }) => [expr, legendFormat] as const),
      ...rules.map(({ expr, summary }) => [expr, summary] as const),
    ];
    for (const [expr, text] of texts) {
      const { metrics, labels } = namesIn(expr);
      const isSummed = /\bsum\b/.test(expr);
      const has = (label: string) =>
        isSummed
          ? labels.includes(label)
          : label === 'instance' || metrics.some((name) => known.get(name)?.has(label));
      const used = [...text.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/g)].map((match) => match[1]!);
      for (const label of used) assert.ok(has(label), `${label} in ${text}`);
    }
  });
});

describe('docs/operations.md', () => {
  const page = read('docs/operations.md');

  it('has a section for every alert, and no other', () => {
    const sections = [...page.matchAll(/^### (LocalEvents\w+)$/gm)].map((match) => match[1]!);
    assert.ok(rules.length > 10);
    assert.deepEqual(
      sections,
      rules.map(({ alert }) => alert),
    );
  });

  it('has a row for every metric, and no other', async () => {
    const rows = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map((match) => match[1]!);
    const shown = new Set(
      panels
        .flatMap(({ expr }) => namesIn(expr).metrics)
        .map((name) => name.replace(/_(?:bucket|sum|count)$/, '')),
    );
    assert.deepEqual([...rows].sort(), [...shown].sort());
  });
});
