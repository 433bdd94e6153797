// The guide for agents as data, and as markdown; html.ts renders it as HTML.

/** Texts may contain `code`, **bold** and [links](url) in markdown syntax. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly string[][] }
  | { readonly kind: 'code'; readonly language: string; readonly code: string };

export interface Section {
  readonly title: string;
  readonly blocks: readonly Block[];
}

export interface Link {
  readonly title: string;
  readonly url: string;
  readonly about: string;
}

export interface Guide {
  readonly summary: string;
  readonly sections: readonly Section[];
  readonly links: readonly Link[];
}

export function text(content: string): Block {
  return { kind: 'text', text: content };
}

export function code(language: string, content: string): Block {
  return { kind: 'code', language, code: content };
}

/** In the format of llmstxt.org: title, summary, details without headings, and lists of links under headings. */
export function toMarkdown({ summary, sections, links }: Guide): string {
  const details = sections.flatMap(({ title, blocks }) => [`**${title}**`, ...blocks.map(writeBlock)]);
  const list = links.map(({ title, url, about }) => `- [${title}](${url}): ${about}`);
  return `${['# local-events', `> ${summary}`, ...details, '## Documents', list.join('\n')].join('\n\n')}\n`;
}

function writeBlock(block: Block): string {
  switch (block.kind) {
    case 'text':
      return block.text;
    case 'list':
      return block.items.map((item) => `- ${item}`).join('\n');
    case 'code':
      return `\`\`\`${block.language}\n${block.code}\n\`\`\``;
    case 'table':
      return [block.head, block.head.map(() => '---'), ...block.rows].map(writeRow).join('\n');
  }
}

function writeRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
