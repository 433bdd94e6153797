// Bar chart of the results: share of the limit for each case, and multiples of PostGIS on a logarithmic scale.
import type { CaseResult } from './rounds.ts';

const WIDTH = 640;
const LABEL = 110;
const BAR = 400;
const STEP = 22;

interface Bar {
  readonly label: string;
  readonly text: string;
  /** From 0 to 1. */
  readonly length: number;
}

/** SVG for light and dark pages: the text follows the page's colour scheme, and the bars are visible on both. */
export function renderChart(cases: readonly CaseResult[]): string {
  const shares = cases.map(({ name, share }): Bar => {
    return { label: name, text: `${Math.round(share.median * 100)} %`, length: Math.min(1, share.median) };
  });
  const multiples = cases.flatMap(({ name, timesPostgis }): Bar[] => {
    if (!timesPostgis) return [];
    const times = timesPostgis.median;
    const length = Math.max(0.01, Math.min(1, Math.log10(times) / 4));
    return [{ label: name, text: `${Math.round(times).toLocaleString('en-US')} ×`, length }];
  });
  const parts: string[] = [];
  let top = 0;
  const add = (title: string, bars: readonly Bar[]) => {
    if (bars.length === 0) return;
    parts.push(`<text class="title" x="8" y="${top + 22}">${title}</text>`);
    top += 34;
    for (const { label, text, length } of bars) {
      const width = Math.round(length * BAR);
      parts.push(
        `<text x="${LABEL - 8}" y="${top + 13}" text-anchor="end">${label}</text>`,
        `<rect class="rest" x="${LABEL}" y="${top}" width="${BAR}" height="16" rx="3"/>`,
        `<rect class="bar" x="${LABEL}" y="${top}" width="${width}" height="16" rx="3"/>`,
        `<text x="${LABEL + BAR + 10}" y="${top + 13}">${text}</text>`,
      );
      top += STEP;
    }
    top += 8;
  };
  add('Requests per second, as a share of plain node:http with responses of the same size', shares);
  add('Requests per second, as a multiple of Fastify over PostGIS (logarithmic)', multiples);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top + 4}" width="${WIDTH}" height="${top + 4}" role="img" aria-label="Results of the benchmark">
<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 }
.bar { fill: #2f81f7 }
.rest { fill: #8b949e; opacity: .2 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }
</style>
${parts.join('\n')}
</svg>
`;
}
