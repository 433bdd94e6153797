// Renders the guide in the format of llmstxt.org: title, summary, details without headings, and lists of links under headings.
import type { Block, Guide } from './blocks.ts';

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
