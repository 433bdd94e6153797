// Renders the guide as one HTML page without scripts or content from other hosts, for wide and narrow screens, light and dark.
import type { Block, Guide, Section } from './blocks.ts';

/** The only stylesheet of the page; its hash is in the Content-Security-Policy. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1d2433; --quiet: #56607a; --paper: #fff; --wash: #f2f4f8; --line: #d7dce6; --link: #1a54b8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8f1; --quiet: #a2acc2; --paper: #12161f; --wash: #1c2230; --line: #333c50; --link: #8ab4ff; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem 1rem 4rem; background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 1rem 0 0; font-size: 1.8rem; }
h2 { margin: 2.5rem 0 0.5rem; padding-top: 0.5rem; border-top: 1px solid var(--line); font-size: 1.3rem; }
a { color: var(--link); }
.lead { color: var(--quiet); font-size: 1.1rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; padding: 0; list-style: none; }
nav a { display: inline-block; padding: 0.25rem 0; }
code { padding: 0.1em 0.3em; border-radius: 4px; background: var(--wash); font: 0.9em ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 6px; background: var(--wash); overflow-wrap: normal; }
pre code { padding: 0; background: none; }
.table { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 0.95rem; overflow-wrap: break-word; }
th, td { padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--quiet); font-weight: 600; }
`;

export function toHtml({ summary, sections, links }: Guide, iconUrl: string): string {
  const documents = links.map(
    ({ title, url, about }) =>
      `<li><a href="${escapeHtml(url)}">${escapeHtml(title)}</a>: ${escapeHtml(about)}</li>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>local-events for agents</title>
<meta name="description" content="${escapeHtml(summary)}">
<link rel="icon" href="${escapeHtml(iconUrl)}" type="image/svg+xml">
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>local-events for agents</h1>
<p class="lead">${escapeHtml(summary)}</p>
<nav aria-label="Sections"><ul>${[...sections.map(({ title }) => title), 'Documents'].map(anchor).join('')}</ul></nav>
</header>
<main>
${sections.map(writeSection).join('\n')}
<section id="documents"><h2>Documents</h2><ul>${documents.join('')}</ul></section>
</main>
</body>
</html>
`;
}

function anchor(title: string): string {
  return `<li><a href="#${idOf(title)}">${escapeHtml(title)}</a></li>`;
}

function idOf(title: string): string {
  return title.toLowerCase().replaceAll(/\W+/g, '-');
}

function writeSection({ title, blocks }: Section): string {
  return `<section id="${idOf(title)}"><h2>${escapeHtml(title)}</h2>\n${blocks.map(writeBlock).join('\n')}\n</section>`;
}

function writeBlock(block: Block): string {
  switch (block.kind) {
    case 'text':
      return `<p>${inline(block.text)}</p>`;
    case 'list':
      return `<ul>${block.items.map((item) => `<li>${inline(item)}</li>`).join('')}</ul>`;
    case 'code':
      return `<pre tabindex="0"><code>${escapeHtml(block.code)}</code></pre>`;
    case 'table': {
      const head = block.head.map((cell) => `<th scope="col">${inline(cell) || 'about'}</th>`).join('');
      const rows = block.rows.map(
        (row) => `<tr>${row.map((cell) => `<td>${inline(cell)}</td>`).join('')}</tr>`,
      );
      return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
    }
  }
}

/** Renders inline code, bold and links. Inside code, nothing is markup. */
export function inline(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith('`') ? `<code>${escapeHtml(part.slice(1, -1))}</code>` : mark(escapeHtml(part)),
    )
    .join('');
}

function mark(escaped: string): string {
  return escaped
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\[([^\]]+)\]\((https?:[^)\s]+)\)/g, '<a href="$2">$1</a>');
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
