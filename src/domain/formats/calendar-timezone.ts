// The timezones that calendars name: by IANA, also behind the name of who issued them, or as Windows does, by CLDR's table. A
// table and no technology: nothing is asked of the machine.
import { WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { isTimezone } from '../datetime.ts';

/** CLDR's territory for what holds wherever nothing else is known. */
const WORLD = '001';

/**
 * By name in small letters. The last ones are what CLDR says since the clocks of Chihuahua (2022) and Almaty (2024) were changed
 * and those of Windows were not, and what Exchange writes for UTC.
 */
const WINDOWS: ReadonlyMap<string, string> = new Map([
  ...WINDOWS_TO_IANA_MAP.filter(({ territory }) => territory === WORLD).map(
    ({ windowsName, iana }): [string, string] => [windowsName.toLowerCase(), iana[0]!],
  ),
  ['mountain standard time (mexico)', 'America/Mazatlan'],
  ['central asia standard time', 'Asia/Bishkek'],
  ['tzone://microsoft/utc', 'UTC'],
]);

/** Longer than any name in use. What is longer is no name. */
export const MAX_TZID_LENGTH = 100;

/** The IANA name for a TZID: Europe/Berlin, /example.org/Europe/Berlin or W. Europe Standard Time. */
export function findTimezone(tzid: string): string | undefined {
  if (tzid.length > MAX_TZID_LENGTH) return undefined;
  const name = tzid.trim();
  return candidatesFor(name).find(isTimezone) ?? WINDOWS.get(name.toLowerCase());
}

/** Behind the name of an issuer, the last parts: IANA's names have two or three. */
function candidatesFor(name: string): string[] {
  if (!name.startsWith('/')) return [name];
  const parts = name.split('/');
  return [parts.slice(-3).join('/'), parts.slice(-2).join('/')];
}

/** Said of a name that cannot be resolved. */
export const KNOWN_TIMEZONES =
  'an IANA name such as Europe/Berlin, a Windows name such as W. Europe Standard Time, ' +
  'or the TZID of a VTIMEZONE with one of these as its X-LIC-LOCATION';
