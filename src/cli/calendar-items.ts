// Finds the events in a stream of iCalendar (RFC 5545): components are followed to their ends. Memory is bounded: what no event
// is made of is dropped as it comes, and there is a limit to everything that is kept.
import { isUtf8 } from 'node:buffer';
import { invalid, StartError } from '../domain/errors.ts';
import { findTimezone, MAX_TZID_LENGTH } from '../domain/formats/calendar-timezone.ts';
import { type Property, parseContentLine, unescapeText } from '../domain/formats/content-line.ts';
import type { DefaultFields } from '../domain/formats/default-fields.ts';
import { type CalendarContext, isWanted, readCalendarEvent } from '../domain/formats/icalendar-reader.ts';
import { unfold } from './ical-lines.ts';
import type { Item } from './import-items.ts';
import { type Line, MAX_LINE_BYTES } from './ndjson.ts';

/** Far more than calendars have: components within each other, letters of a component's name, and timezones of a calendar. */
const MAX_DEPTH = 20;
const MAX_NAME_LENGTH = 100;
const MAX_ZONES = 1_000;
/** Of an event, of those that are read. In memory each takes much more than the few bytes that it may have. */
const MAX_PROPERTIES = 1_000;
/** Events that wait for a timezone that is still to come, and their bytes. */
const MAX_WAITING = 10_000;
const MAX_WAITING_BYTES = 4_194_304;

/** The items of each chunk. Throws StartError, behind the items before it, where a file is not what it should be as a whole. */
export async function* readCalendar(
  chunks: AsyncIterable<Buffer>,
  given: DefaultFields,
): AsyncGenerator<Item[]> {
  const reader = new CalendarReader(given);
  let problem: unknown;
  for await (const lines of unfold(chunks)) {
    try {
      reader.add(lines);
    } catch (error) {
      problem = error;
      break;
    }
    yield reader.take();
  }
  reader.stopWaiting();
  yield reader.take();
  if (problem) throw problem;
  reader.end();
}

/** An event that is being read. */
interface Begun {
  readonly number: number;
  bytes: number;
  properties: Property[];
  problem: string | undefined;
}

class CalendarReader {
  readonly #given: DefaultFields;
  #items: Item[] = [];
  /** Events whose timezone is not known yet: it may be defined behind them. */
  #waiting: Item[] = [];
  #waitingBytes = 0;
  /** Names of the components around the line. */
  #path: string[] = [];
  #begun: Begun | undefined;
  #zones = new Map<string, string>();
  #calendar: CalendarContext = { zones: this.#zones };
  #hadCalendar = false;
  /** Of the VTIMEZONE around the line. */
  #tzid: string | undefined;
  #zone: string | undefined;

  constructor(given: DefaultFields) {
    this.#given = given;
  }

  add(lines: readonly Line[]): void {
    for (const line of lines) this.#addOne(line);
  }

  /** What is complete since the last time. */
  take(): Item[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  /** What waits is complete as it is. */
  stopWaiting(): void {
    for (const item of this.#waiting) this.#items.push(item);
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  end(): void {
    if (this.#path.length > 0) throw broken(`it ends within a ${this.#path.at(-1)}`);
    if (!this.#hadCalendar) throw broken('it is empty');
  }

  #addOne({ number, bytes }: Line): void {
    const text = bytes && isUtf8(bytes) ? bytes.toString().replace(/^\ufeff/, '') : undefined;
    if (text?.trim() === '') return;
    const property = text === undefined ? undefined : parseContentLine(text);
    if (property?.name === 'BEGIN') this.#begin(nameOf(property, number), number);
    else if (property?.name === 'END') this.#end(nameOf(property, number), number);
    else if (this.#path.length === 0) throw broken(`line ${number} is outside of a VCALENDAR`);
    else if (this.#begun && this.#path.at(-1) === 'VEVENT') {
      const begun = this.#begun;
      begun.bytes += bytes?.length ?? 0;
      begun.problem ??=
        property || isPassedOver(text) ? problemOfSize(begun) : `line ${number} ${problemOf(bytes, text)}`;
      if (begun.problem) begun.properties = [];
      else if (property && isWanted(property.name)) begun.properties.push(property);
    } else if (property) this.#note(property);
  }

  #begin(name: string, number: number): void {
    if (this.#path.length === 0) {
      if (name !== 'VCALENDAR') throw broken(`line ${number} is outside of a VCALENDAR`);
      this.#hadCalendar = true;
      this.#zones = new Map();
      this.#calendar = { zones: this.#zones };
    }
    if (name === 'VCALENDAR' && this.#path.length > 0)
      throw broken(`line ${number} begins a VCALENDAR within another`);
    if (this.#path.length === MAX_DEPTH) {
      throw broken(`line ${number} begins a component within ${MAX_DEPTH} others`);
    }
    if (name === 'VEVENT' && this.#path.length === 1)
      this.#begun = { number, bytes: 0, properties: [], problem: undefined };
    if (name === 'VTIMEZONE') {
      this.#tzid = undefined;
      this.#zone = undefined;
    }
    this.#path.push(name);
  }

  #end(name: string, number: number): void {
    if (this.#path.pop() !== name) throw broken(`line ${number} ends a ${name} that did not begin`);
    if (name === 'VTIMEZONE') this.#endZone(number);
    if (name === 'VEVENT' && this.#begun && this.#path.length === 1) this.#endEvent(this.#begun);
    if (this.#path.length === 0) this.stopWaiting();
  }

  #endZone(number: number): void {
    const [tzid, zone] = [this.#tzid, this.#zone];
    if (tzid === undefined || zone === undefined || tzid.length > MAX_TZID_LENGTH) return;
    this.#zones.set(tzid, zone);
    if (this.#zones.size > MAX_ZONES) {
      throw broken(`line ${number} ends one timezone more than the ${MAX_ZONES} that a calendar may have`);
    }
  }

  #endEvent(begun: Begun): void {
    this.#begun = undefined;
    const calendar = this.#calendar;
    const read = () => {
      if (begun.problem) throw invalid([{ loc: ['body'], msg: begun.problem, type: 'value_error' }]);
      return readCalendarEvent(begun.properties, calendar, this.#given);
    };
    const item: Item = { number: begun.number, bytes: begun.bytes, read };
    if (!begun.properties.some((property) => this.#lacksZone(property))) {
      this.#items.push(item);
      return;
    }
    this.#waiting.push(item);
    this.#waitingBytes += item.bytes;
    const isFull = this.#waiting.length === MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES;
    if (isFull) this.stopWaiting();
  }

  #lacksZone({ parameters }: Property): boolean {
    const tzid = parameters.get('TZID');
    if (tzid === undefined || tzid.length > MAX_TZID_LENGTH) return false;
    return !this.#zones.has(tzid) && findTimezone(tzid) === undefined;
  }

  /** What is said around the events. */
  #note({ name, value }: Property): void {
    const component = this.#path.at(-1);
    if (component === 'VCALENDAR') {
      if (name === 'METHOD') this.#calendar.method = value.trim().toUpperCase();
      const timezone = name === 'X-WR-TIMEZONE' ? findTimezone(unescapeText(value)) : undefined;
      if (timezone !== undefined) this.#calendar.timezone = timezone;
    } else if (component === 'VTIMEZONE') {
      if (name === 'TZID') this.#tzid = unescapeText(value);
      if (name === 'X-LIC-LOCATION') this.#zone = findTimezone(unescapeText(value));
    }
  }
}

/** Of a component. */
function nameOf({ value }: Property, number: number): string {
  const name = value.trim();
  if (name.length > MAX_NAME_LENGTH) {
    throw broken(`line ${number} names a component with more than ${MAX_NAME_LENGTH} characters`);
  }
  return name.toUpperCase();
}

/** Whether a line that cannot be read is of a property that nobody looks at: names of guests have odd quotes. */
function isPassedOver(text: string | undefined): boolean {
  const name = /^([\w-]+)[;:]/.exec(text ?? '')?.[1];
  return name !== undefined && !isWanted(name.toUpperCase());
}

function problemOfSize({ bytes, properties }: Begun): string | undefined {
  if (bytes > MAX_LINE_BYTES) return 'must not be longer than 1 MiB';
  return properties.length > MAX_PROPERTIES
    ? `must not have more than ${MAX_PROPERTIES} properties`
    : undefined;
}

function problemOf(bytes: Buffer | undefined, text: string | undefined): string {
  if (bytes === undefined) return 'must not be longer than 1 MiB';
  return text === undefined ? 'must be valid UTF-8' : 'must have a name, a colon and a value';
}

function broken(reason: string): StartError {
  return new StartError(`the file is no iCalendar that can be read: ${reason}`);
}
