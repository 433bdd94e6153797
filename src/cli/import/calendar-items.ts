// Finds the events in an iCalendar stream (RFC 5545) by following its components. Memory is bounded: everything that no event
// needs is dropped on arrival, and everything kept has a limit. Converting an event is left to the domain's reader.
import { isUtf8 } from 'node:buffer';
import { invalid, StartError } from '../../domain/errors.ts';
import { findTimezone, MAX_TZID_LENGTH } from '../../domain/events/formats/calendar-time.ts';
import { type Property, parseContentLine, unescapeText } from '../../domain/events/formats/content-line.ts';
import type { DefaultFields } from '../../domain/events/formats/default-fields.ts';
import {
  type CalendarContext,
  isUsedProperty,
  readCalendarEvent,
} from '../../domain/events/formats/icalendar-reader.ts';
import { type Line, MAX_LINE_BYTES, readLines } from '../ndjson.ts';
import type { Item } from './import-items.ts';

/** Far above real calendars: nested components, length of a component's name, and timezones in a calendar. */
const MAX_DEPTH = 20;
const MAX_NAME_LENGTH = 100;
const MAX_ZONES = 1_000;
/** Used properties of one event. Even a property of a few bytes takes much more in memory. */
const MAX_PROPERTIES = 1_000;
/** Events that wait for a timezone defined later in the file, and their bytes. */
const MAX_WAITING = 10_000;
const MAX_WAITING_BYTES = 4_194_304;

/** Yields the items of each chunk. If the file as a whole is invalid, throws StartError after the items before the fault. */
export async function* readCalendar(
  chunks: AsyncIterable<Buffer>,
  defaults: DefaultFields,
): AsyncGenerator<Item[]> {
  const reader = new CalendarReader(defaults);
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

/** Event whose END line is still to come. */
interface OpenEvent {
  readonly number: number;
  bytes: number;
  properties: Property[];
  problem: string | undefined;
}

class CalendarReader {
  readonly #defaults: DefaultFields;
  #items: Item[] = [];
  /** Events with an unknown timezone: the calendar may define it after them. */
  #waiting: Item[] = [];
  #waitingBytes = 0;
  /** Names of the components that contain the current line, outermost first. */
  #path: string[] = [];
  #openEvent: OpenEvent | undefined;
  #zones = new Map<string, string>();
  #calendar: CalendarContext = { zones: this.#zones };
  #hadCalendar = false;
  /** TZID and IANA name in the current VTIMEZONE. */
  #tzid: string | undefined;
  #zone: string | undefined;

  constructor(defaults: DefaultFields) {
    this.#defaults = defaults;
  }

  add(lines: readonly Line[]): void {
    for (const line of lines) this.#addOne(line);
  }

  /** Returns and forgets the items completed since the last call. */
  take(): Item[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  /** Completes the waiting events with the timezones known so far. */
  stopWaiting(): void {
    for (const item of this.#waiting) this.#items.push(item);
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** Throws StartError if the file is empty or cut off. */
  end(): void {
    if (this.#path.length > 0) throw invalidFile(`it ends inside a ${this.#path.at(-1)}`);
    if (!this.#hadCalendar) throw invalidFile('it is empty');
  }

  #addOne({ number, bytes }: Line): void {
    const text = bytes && isUtf8(bytes) ? bytes.toString().replace(/^\ufeff/, '') : undefined;
    if (text?.trim() === '') return;
    const property = text === undefined ? undefined : parseContentLine(text);
    if (property?.name === 'BEGIN') this.#begin(componentName(property, number), number);
    else if (property?.name === 'END') this.#end(componentName(property, number), number);
    else if (this.#path.length === 0) throw invalidFile(`line ${number} is outside a VCALENDAR`);
    else if (this.#openEvent && this.#path.at(-1) === 'VEVENT') {
      const event = this.#openEvent;
      event.bytes += bytes?.length ?? 0;
      event.problem ??=
        property || isUnusedProperty(text)
          ? sizeProblem(event)
          : `line ${number} ${lineProblem(bytes, text)}`;
      if (event.problem) event.properties = [];
      else if (property && isUsedProperty(property.name)) event.properties.push(property);
    } else if (property) this.#addContext(property);
  }

  #begin(name: string, number: number): void {
    if (this.#path.length === 0) {
      if (name !== 'VCALENDAR') throw invalidFile(`line ${number} is outside a VCALENDAR`);
      this.#hadCalendar = true;
      this.#zones = new Map();
      this.#calendar = { zones: this.#zones };
    }
    if (name === 'VCALENDAR' && this.#path.length > 0)
      throw invalidFile(`line ${number} begins a VCALENDAR inside another one`);
    if (this.#path.length === MAX_DEPTH) {
      throw invalidFile(`line ${number} nests components more than ${MAX_DEPTH} deep`);
    }
    if (name === 'VEVENT' && this.#path.length === 1)
      this.#openEvent = { number, bytes: 0, properties: [], problem: undefined };
    if (name === 'VTIMEZONE') {
      this.#tzid = undefined;
      this.#zone = undefined;
    }
    this.#path.push(name);
  }

  #end(name: string, number: number): void {
    if (this.#path.pop() !== name)
      throw invalidFile(`line ${number} has END:${name} without a matching BEGIN`);
    if (name === 'VTIMEZONE') this.#endZone(number);
    if (name === 'VEVENT' && this.#openEvent && this.#path.length === 1) this.#endEvent(this.#openEvent);
    if (this.#path.length === 0) this.stopWaiting();
  }

  #endZone(number: number): void {
    const [tzid, zone] = [this.#tzid, this.#zone];
    if (tzid === undefined || zone === undefined || tzid.length > MAX_TZID_LENGTH) return;
    this.#zones.set(tzid, zone);
    if (this.#zones.size > MAX_ZONES) {
      throw invalidFile(`line ${number} exceeds the limit of ${MAX_ZONES} timezones per calendar`);
    }
  }

  #endEvent(event: OpenEvent): void {
    this.#openEvent = undefined;
    const calendar = this.#calendar;
    const read = () => {
      if (event.problem) throw invalid([{ loc: ['body'], msg: event.problem, type: 'value_error' }]);
      return readCalendarEvent(event.properties, calendar, this.#defaults);
    };
    const item: Item = { number: event.number, bytes: event.bytes, read };
    if (!event.properties.some((property) => this.#hasUnknownZone(property))) {
      this.#items.push(item);
      return;
    }
    this.#waiting.push(item);
    this.#waitingBytes += item.bytes;
    const isFull = this.#waiting.length === MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES;
    if (isFull) this.stopWaiting();
  }

  #hasUnknownZone({ parameters }: Property): boolean {
    const tzid = parameters.get('TZID');
    if (tzid === undefined || tzid.length > MAX_TZID_LENGTH) return false;
    return !this.#zones.has(tzid) && findTimezone(tzid) === undefined;
  }

  /** Keeps the calendar and timezone properties that events need. */
  #addContext({ name, value }: Property): void {
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

/** Name of the component that a BEGIN or END line names. Throws StartError if it is too long. */
function componentName({ value }: Property, number: number): string {
  const name = value.trim();
  if (name.length > MAX_NAME_LENGTH) {
    throw invalidFile(`line ${number} has a component name longer than ${MAX_NAME_LENGTH} characters`);
  }
  return name.toUpperCase();
}

/** Whether a malformed line is a property that no event uses. Attendee names, for example, often have stray quotes. */
function isUnusedProperty(text: string | undefined): boolean {
  const name = /^([\w-]+)[;:]/.exec(text ?? '')?.[1];
  return name !== undefined && !isUsedProperty(name.toUpperCase());
}

function sizeProblem({ bytes, properties }: OpenEvent): string | undefined {
  if (bytes > MAX_LINE_BYTES) return 'must not be longer than 1 MiB';
  return properties.length > MAX_PROPERTIES
    ? `must not have more than ${MAX_PROPERTIES} properties`
    : undefined;
}

function lineProblem(bytes: Buffer | undefined, text: string | undefined): string {
  if (bytes === undefined) return 'must not be longer than 1 MiB';
  return text === undefined ? 'must be valid UTF-8' : 'must have a name, a colon and a value';
}

function invalidFile(reason: string): StartError {
  return new StartError(`the file is not valid iCalendar: ${reason}`);
}

/** Parts are joined at this number: even a part of a few bytes takes much more in memory. */
const MAX_PARTS = 1_000;
const SPACE = 0x20;
const TAB = 0x09;

/**
 * Unfolds lines to content lines (RFC 5545, 3.1), and yields those completed by each chunk. A content line has the number of its first
 * line. Works on bytes, because a fold may split a character.
 */
async function* unfold(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let number = 0;
  let parts: Buffer[] = [];
  let length = 0;
  const take = (): Line[] => {
    if (number === 0) return [];
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    return [{ number, bytes: length > MAX_LINE_BYTES ? undefined : bytes }];
  };
  for await (const lines of readLines(chunks)) {
    const unfolded: Line[] = [];
    for (const { number: at, bytes } of lines) {
      const isFolded = number > 0 && (bytes?.[0] === SPACE || bytes?.[0] === TAB);
      if (!isFolded) {
        unfolded.push(...take());
        number = at;
        parts = [];
        length = 0;
      }
      length += bytes?.length ?? MAX_LINE_BYTES + 1;
      if (length > MAX_LINE_BYTES) parts = [];
      else parts.push(isFolded ? bytes!.subarray(1) : bytes!);
      if (parts.length === MAX_PARTS) parts = [Buffer.concat(parts)];
    }
    yield unfolded;
  }
  yield take();
}
