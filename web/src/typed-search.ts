// The search for events as it is typed: its last word may be unfinished, so it is sent as a prefix.

/** Limit of the API. */
const MAX_LENGTH = 200;

const EVENT_ID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const LAST_WORD = /[\p{L}\p{N}\p{M}]+$/u;
/** In these scripts words are not separated: every part of a text is found without a prefix. */
const UNSEPARATED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/** Adds * to the last word, unless that would change what is meant: of an ID, an excluded word, or a single letter. */
export function withPrefix(typed: string): string {
  const text = typed.trim();
  if (EVENT_ID.test(text) || [...text].length >= MAX_LENGTH) return text;
  const lastTerm = text.split(/\s+/u).at(-1)!;
  if (lastTerm.startsWith('-') || UNSEPARATED.test(lastTerm.normalize('NFKC'))) return text;
  // Nearly as the service spells words, with fewer letters if at all.
  const spelled = lastTerm.normalize('NFKD').replaceAll(/\p{M}/gu, '').normalize('NFKC');
  const word = LAST_WORD.exec(spelled)?.[0] ?? '';
  return [...word].length < 2 ? text : `${text}*`;
}
