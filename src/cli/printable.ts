// Makes untrusted text, such as file content or a response, safe to print on an operator's terminal.

/** Longer than anybody reads in one line. */
const MAX_LENGTH = 1_000;

/** Replaces control, formatting and line-break characters by spaces, and truncates long text. */
export function printable(text: string): string {
  const shown = text.slice(0, MAX_LENGTH).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  return text.length > MAX_LENGTH ? `${shown.toWellFormed()}…` : shown;
}
