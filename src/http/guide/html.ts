// Renders the guide as parts of an HTML page; pages/guide.html has the rest of it.
import type { Block, Guide, Section } from './blocks.ts';

/** Parts of the page, as HTML. */
export interface GuideParts {
  readonly contents: string;
  readonly sections: string;
}

export function toHtml({ sections, links }: Guide): GuideParts {
  const documents = links.map(
    ({ title, url, about }) =>
      `<li><a href="${escapeHtml(url)}">${escapeHtml(title)}</a>: ${escapeHtml(about)}</li>`,
  );
  return {
    contents: [...sections.map(({ title }) => title), 'Documents'].map(anchor).join('\n'),
    sections: `${sections.map(writeSection).join('\n')}\n<section id="documents"><h2>Documents</h2><ul>${documents.join('')}</ul></section>`,
  };
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
