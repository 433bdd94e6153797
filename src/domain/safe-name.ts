// Makes names that callers sent safe to repeat in responses. Anything but a short name of letters, digits, "_", "." and "-" becomes "?",
// and so does anything that begins like a key.

const SHOWABLE = /^(?!lev_)[A-Za-z0-9_.-]{1,50}$/;

/** Maximum number of such names in a response. */
export const MAX_SHOWN_NAMES = 10;

export function safeName(name: string): string {
  return SHOWABLE.test(name) ? name : '?';
}
