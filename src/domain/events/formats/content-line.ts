// Parses iCalendar content lines (RFC 5545, 3.1) that are already unfolded and decoded. Escapes and unescapes TEXT values.

/** Name prefix of this service's own X- properties. */
export const OWN_PREFIX = 'X-LOCAL-EVENTS-';

export interface Property {
  /** Upper case. */
  readonly name: string;
  /** First value of each parameter, without quotes, by upper-case name. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly value: string;
}

const LINE = /^([A-Za-z0-9-]+)((?:;[^";:=]+=(?:"[^"]*"|[^";:])*)*):(.*)$/s;
const PARAMETER = /;([^";:=]+)=((?:"[^"]*"|[^";:])*)/g;
const FIRST_VALUE = /^(?:"([^"]*)"|([^",]*))/;
/** Some programs forget the quotes around a TZID that contains a comma or a colon. */
const UNQUOTED_TZID =
  /^(DT(?:START|END)(?:;VALUE=DATE-TIME)?;TZID=)([^";]{1,100})((?:;VALUE=DATE-TIME)?:\d{8}T\d{6}Z?\s*)$/i;
const NO_PARAMETERS: ReadonlyMap<string, string> = new Map();

/** Undefined if the line is not a content line. */
export function parseContentLine(line: string): Property | undefined {
  const match = LINE.exec(line.replace(UNQUOTED_TZID, '$1"$2"$3'));
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

/** Control characters that TEXT cannot contain: all except tab and line feed. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/;
const ALL_CONTROLS = new RegExp(CONTROLS, 'g');

/** Whether TEXT can represent the string without loss. */
export function fitsText(text: string): boolean {
  return !CONTROLS.test(text);
}

/** The string as TEXT can represent it: line ends become line feeds, other control characters are removed. */
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

/** Decodes TEXT. Escapes that the standard does not define stay unchanged. */
export function unescapeText(value: string): string {
  return value.replaceAll(/\\([\s\S])/g, (both, escaped: string) => {
    if (escaped === 'n' || escaped === 'N') return '\n';
    return /[\\;,:"]/.test(escaped) ? escaped : both;
  });
}

/** Decodes a comma-separated list of TEXT. */
export function unescapeList(value: string): string[] {
  return (value.match(/(?:\\[\s\S]|[^,\\])+/g) ?? []).map((item) => unescapeText(item).trim());
}
