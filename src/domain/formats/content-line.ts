// Content lines of iCalendar (RFC 5545, 3.1), unfolded and decoded already: name, parameters and value, and text in a value.

export interface Property {
  /** In capitals. */
  readonly name: string;
  /** By name in capitals, the first value of each, without quotes. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly value: string;
}

const LINE = /^([A-Za-z0-9-]+)((?:;[^";:=]+=(?:"[^"]*"|[^";:])*)*):(.*)$/s;
const PARAMETER = /;([^";:=]+)=(?:"([^"]*)"|([^";:,]*))/g;

/** Undefined if the line is none. */
export function parseContentLine(line: string): Property | undefined {
  const match = LINE.exec(line);
  if (!match) return undefined;
  const [, name, parameters, value] = match as unknown as [string, string, string, string];
  const found = [...withoutLists(parameters).matchAll(PARAMETER)];
  return {
    name: name.toUpperCase(),
    parameters: new Map(found.map(([, key, quoted, plain]) => [key!.toUpperCase(), quoted ?? plain ?? ''])),
    value,
  };
}

/** Parameters with only the first value of each, so that what follows in quotes is not taken for another parameter. */
function withoutLists(parameters: string): string {
  return parameters.replaceAll(/("[^"]*"|[^";:,])((?:,(?:"[^"]*"|[^";:,]*))+)/g, '$1');
}

/** TEXT as it was meant. An escape that the standard does not know stays as it is. */
export function unescapeText(value: string): string {
  return value.replaceAll(/\\([\s\S])/g, (both, escaped: string) => {
    if (escaped === 'n' || escaped === 'N') return '\n';
    return /[\\;,:"]/.test(escaped) ? escaped : both;
  });
}

/** A list of TEXT. */
export function unescapeList(value: string): string[] {
  return (value.match(/(?:\\[\s\S]|[^,\\])+/g) ?? []).map((item) => unescapeText(item).trim());
}
