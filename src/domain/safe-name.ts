// Makes names that callers chose safe to repeat in responses. Any other text, and anything that may be a key, becomes "?".

const SHOWABLE = /^(?!lev_)[A-Za-z0-9_.-]{1,50}$/;

/** Maximum number of such names in a response. */
export const MAX_SHOWN_NAMES = 10;

export function safeName(name: string): string {
  return SHOWABLE.test(name) ? name : '?';
}
