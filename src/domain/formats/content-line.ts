// Content lines of iCalendar (RFC 5545, 3.1), unfolded and decoded: name, parameters and value, and text in a value.

/** What the names of our own properties begin with. */
export const OWN_PREFIX = 'X-LOCAL-EVENTS-';

export interface Property {
  /** In capitals. */
  readonly name: string;
  /** By name in capitals, the first value of each, without quotes. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly value: string;
}

const LINE = /^([A-Za-z0-9-]+)((?:;[^";:=]+=(?:"[^"]*"|[^";:])*)*):(.*)$/s;
const PARAMETER = /;([^";:=]+)=((?:"[^"]*"|[^";:])*)/g;
const FIRST_VALUE = /^(?:"([^"]*)"|([^",]*))/;
/** What some programs write: a TZID that needs quotes, as it has a comma or a colon, and has none. */
const BARE_TZID =
  /^(DT(?:START|END)(?:;VALUE=DATE-TIME)?;TZID=)([^";]{1,100})((?:;VALUE=DATE-TIME)?:\d{8}T\d{6}Z?\s*)$/i;
const NO_PARAMETERS: ReadonlyMap<string, string> = new Map();

/** Undefined if the line is none. */
export function parseContentLine(line: string): Property | undefined {
  const match = LINE.exec(line.replace(BARE_TZID, '$1"$2"$3'));
  if (!match) return undefined;
  const [, name, parameters, value] = match as unknown as [string, string, string, string];
  return {
    name: name.toUpperCase(),
    parameters: parameters === '' ? NO_PARAMETERS : readParameters(parameters),
    value,
  };
}

function readParameters(text: string): ReadonlyMap<string, string> {
  const found = [...text.matchAll(PARAMETER)].map(([, name, values]): [string, string] => {
    const [, quoted, plain] = FIRST_VALUE.exec(values!)!;
    return [name!.toUpperCase(), quoted ?? plain ?? ''];
  });
  return new Map(found);
}

/** Control characters other than tab and line feed: TEXT cannot hold them. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/;
const ALL_CONTROLS = new RegExp(CONTROLS, 'g');

/** Whether TEXT can hold all of a text. */
export function fitsText(text: string): boolean {
  return !CONTROLS.test(text);
}

/** What TEXT holds of a text. */
export function plainText(text: string): string {
  return fitsText(text) ? text : text.replaceAll(/\r\n?/g, '\n').replaceAll(ALL_CONTROLS, '');
}

export function escapeText(text: string): string {
  return plainText(text)
    .replaceAll('\\', '\\\\')
    .replaceAll(';', '\\;')
    .replaceAll(',', '\\,')
    .replaceAll('\n', '\\n');
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
