// Names that callers made up, as far as answers may repeat them: any other text, and what may be a key, stays out.

const SHOWABLE = /^(?!lev_)[A-Za-z0-9_.-]{1,50}$/;

export function safeName(name: string): string {
  return SHOWABLE.test(name) ? name : '?';
}
