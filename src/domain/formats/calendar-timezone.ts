// Resolves the timezone names in calendars: IANA names, also with the prefix of their issuer, and Windows names by CLDR's
// table. The table comes with a package; there is no I/O.
import { WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { isTimezone } from '../datetime.ts';

/** CLDR's territory for the default mapping. */
const WORLD = '001';

/**
 * By name in lower case. The last entries are later mappings of CLDR, made after Chihuahua (2022) and Almaty (2024) changed
 * their clocks and Windows did not, and the name that Exchange writes for UTC.
 */
const WINDOWS: ReadonlyMap<string, string> = new Map([
  ...WINDOWS_TO_IANA_MAP.filter(({ territory }) => territory === WORLD).map(
    ({ windowsName, iana }): [string, string] => [windowsName.toLowerCase(), iana[0]!],
  ),
  ['mountain standard time (mexico)', 'America/Mazatlan'],
  ['central asia standard time', 'Asia/Bishkek'],
  ['tzone://microsoft/utc', 'UTC'],
]);

/** Longer than any name in use. Longer values are not looked up. */
export const MAX_TZID_LENGTH = 100;

/** IANA name of a TZID such as Europe/Berlin, /example.org/Europe/Berlin or W. Europe Standard Time. */
export function findTimezone(tzid: string): string | undefined {
  if (tzid.length > MAX_TZID_LENGTH) return undefined;
  const name = tzid.trim();
  return candidatesFor(name).find(isTimezone) ?? WINDOWS.get(name.toLowerCase());
}

/** After an issuer's prefix, the last three and the last two parts: IANA names have two or three. */
function candidatesFor(name: string): string[] {
  if (!name.startsWith('/')) return [name];
  const parts = name.split('/');
  return [parts.slice(-3).join('/'), parts.slice(-2).join('/')];
}

/** The names that findTimezone resolves, for error messages. */
export const KNOWN_TIMEZONES =
  'an IANA name such as Europe/Berlin, a Windows name such as W. Europe Standard Time, ' +
  'or the TZID of a VTIMEZONE with one of these as its X-LIC-LOCATION';
