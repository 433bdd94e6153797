// Parses content lines of iCalendar (RFC 5545, 3.1), already unfolded and decoded, to name, parameters and value. Escapes
// and unescapes TEXT values.

/** Prefix of the names of our own properties. */
export const OWN_PREFIX = 'X-LOCAL-EVENTS-';

export interface Property {
  /** In upper case. */
  readonly name: string;
  /** The first value of each parameter, without quotes, by name in upper case. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly value: string;
}

const LINE = /^([A-Za-z0-9-]+)((?:;[^";:=]+=(?:"[^"]*"|[^";:])*)*):(.*)$/s;
const PARAMETER = /;([^";:=]+)=((?:"[^"]*"|[^";:])*)/g;
const FIRST_VALUE = /^(?:"([^"]*)"|([^",]*))/;
/** A TZID that contains a comma or colon but lacks the required quotes, as some programs write it. */
const BARE_TZID =
  /^(DT(?:START|END)(?:;VALUE=DATE-TIME)?;TZID=)([^";]{1,100})((?:;VALUE=DATE-TIME)?:\d{8}T\d{6}Z?\s*)$/i;
const NO_PARAMETERS: ReadonlyMap<string, string> = new Map();

/** Undefined if the text is not a content line. */
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

/** Whether TEXT can hold the text unchanged. */
export function fitsText(text: string): boolean {
  return !CONTROLS.test(text);
}

/** The text without the characters that TEXT cannot hold. */
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

/** Decodes the escapes of TEXT. An escape that is not in the standard stays unchanged. */
export function unescapeText(value: string): string {
  return value.replaceAll(/\\([\s\S])/g, (both, escaped: string) => {
    if (escaped === 'n' || escaped === 'N') return '\n';
    return /[\\;,:"]/.test(escaped) ? escaped : both;
  });
}

/** Splits a list of TEXT values and unescapes each. */
export function unescapeList(value: string): string[] {
  return (value.match(/(?:\\[\s\S]|[^,\\])+/g) ?? []).map((item) => unescapeText(item).trim());
}
