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

/** The IANA name for a TZID: Europe/Berlin, /example.org/Europe/Berlin or W. Europe Standard Time. */
export function findTimezone(tzid: string): string | undefined {
  const name = tzid.trim();
  const parts = name.split('/');
  const candidates = name.startsWith('/')
    ? parts.map((_, at) => parts.slice(at).join('/')).filter((part) => part.includes('/'))
    : [name];
  return candidates.find(isTimezone) ?? WINDOWS.get(name.toLowerCase());
}

/** Said of a name that cannot be resolved. */
export const KNOWN_TIMEZONES =
  'an IANA name such as Europe/Berlin, a Windows name such as W. Europe Standard Time, ' +
  'or the TZID of a VTIMEZONE with one of these as its X-LIC-LOCATION';
