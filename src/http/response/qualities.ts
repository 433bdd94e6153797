// Parses lists with qualities (RFC 9110), such as Accept and Accept-Encoding. The choice is left to the callers.

const QUALITY = /^\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$/i;

/** Items in lower case with their qualities, in the order sent. An item with an invalid quality is ignored. */
export function readQualities(header: string): Map<string, number> {
  const qualities = new Map<string, number>();
  for (const item of splitOutsideQuotes(header, ',')) {
    const [name = '', ...parameters] = splitOutsideQuotes(item, ';');
    const weight = parameters.find((parameter) => /^\s*q\s*=/i.test(parameter)) ?? 'q=1';
    const quality = QUALITY.exec(weight)?.[1];
    if (quality !== undefined && !qualities.has(name.trim().toLowerCase())) {
      qualities.set(name.trim().toLowerCase(), Number(quality));
    }
  }
  return qualities;
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted && character === '\\') at++;
    else if (!isQuoted && character === separator) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}
