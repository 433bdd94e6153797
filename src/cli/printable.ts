// Text from elsewhere, such as a file or an answer, on its way to an operator's terminal.

/** More than anybody reads in one line. */
const MAX_LENGTH = 1_000;

/** One line without what a terminal would obey or what would change the order of letters, and of bounded length. */
export function printable(text: string): string {
  const shown = text.slice(0, MAX_LENGTH).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  return text.length > MAX_LENGTH ? `${shown.toWellFormed()}…` : shown;
}
