// Maps a calendar's timezone names to IANA names: IANA names, with or without the prefix of their issuer, and Windows names by
// CLDR's table. A plain table: it does not depend on the machine.
import { WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { isTimezone } from '../../datetime.ts';

/** CLDR's territory code for the default mapping of a Windows name. */
const DEFAULT_TERRITORY = '001';

/** IANA names by lower-case Windows name. */
const IANA_BY_WINDOWS_NAME: ReadonlyMap<string, string> = new Map([
  ...WINDOWS_TO_IANA_MAP.filter(({ territory }) => territory === DEFAULT_TERRITORY).map(
    ({ windowsName, iana }): [string, string] => [windowsName.toLowerCase(), iana[0]!],
  ),
  // Newer CLDR data: Chihuahua (2022) and Almaty (2024) changed their clocks, Windows did not.
  ['mountain standard time (mexico)', 'America/Mazatlan'],
  ['central asia standard time', 'Asia/Bishkek'],
  ['tzone://microsoft/utc', 'UTC'], // Exchange's name for UTC
]);

/** Longer than any name in use. Longer values are never looked up. */
export const MAX_TZID_LENGTH = 100;

/** IANA name for a TZID such as Europe/Berlin, /example.org/Europe/Berlin or W. Europe Standard Time. */
export function findTimezone(tzid: string): string | undefined {
  if (tzid.length > MAX_TZID_LENGTH) return undefined;
  const name = tzid.trim();
  return candidateNames(name).find(isTimezone) ?? IANA_BY_WINDOWS_NAME.get(name.toLowerCase());
}

/** After an issuer prefix, the IANA name is the last two or three parts. */
function candidateNames(name: string): string[] {
  if (!name.startsWith('/')) return [name];
  const parts = name.split('/');
  return [parts.slice(-3).join('/'), parts.slice(-2).join('/')];
}

/** List of supported names, for error messages. */
export const KNOWN_TIMEZONES =
  'an IANA name such as Europe/Berlin, a Windows name such as W. Europe Standard Time, ' +
  'or the TZID of a VTIMEZONE with one of these as its X-LIC-LOCATION';
