// Data types of the guide for agents, before markdown.ts or html.ts renders it.

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
