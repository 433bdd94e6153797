// Finds the events in a stream of iCalendar (RFC 5545): lines are unfolded as bytes, because a fold may lie inside of a letter,
// and components are followed to their ends. Memory is bounded: what no event is made of is dropped as it comes.
import { isUtf8 } from 'node:buffer';
import { invalid, StartError } from '../domain/errors.ts';
import { findTimezone } from '../domain/formats/calendar-timezone.ts';
import { type Property, parseContentLine, unescapeText } from '../domain/formats/content-line.ts';
import { type CalendarContext, isWanted, readCalendarEvent } from '../domain/formats/icalendar-reader.ts';
import type { GivenFields } from '../domain/formats/lacking.ts';
import type { Item } from './import-items.ts';
import { type Line, MAX_LINE_BYTES, readLines } from './ndjson.ts';

/** The items of each chunk. Throws StartError, behind the items before it, where a file is not what it should be as a whole. */
export async function* readCalendar(
  chunks: AsyncIterable<Buffer>,
  given: GivenFields,
): AsyncGenerator<Item[]> {
  const reader = new CalendarReader(given);
  for await (const lines of unfold(chunks)) {
    try {
      reader.add(lines);
    } finally {
      yield reader.take();
    }
  }
  reader.end();
}

const SPACE = 0x20;
const TAB = 0x09;

async function* unfold(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let number = 0;
  let parts: Buffer[] = [];
  let length = 0;
  const take = (): Line[] => {
    if (number === 0) return [];
    return [{ number, bytes: length > MAX_LINE_BYTES ? undefined : Buffer.concat(parts) }];
  };
  for await (const lines of readLines(chunks)) {
    const whole: Line[] = [];
    for (const { number: at, bytes } of lines) {
      const isFolded = number > 0 && (bytes?.[0] === SPACE || bytes?.[0] === TAB);
      if (!isFolded) {
        whole.push(...take());
        number = at;
        parts = [];
        length = 0;
      }
      length += bytes?.length ?? MAX_LINE_BYTES + 1;
      if (length > MAX_LINE_BYTES) parts = [];
      else parts.push(isFolded ? bytes!.subarray(1) : bytes!);
    }
    yield whole;
  }
  yield take();
}

/** An event that is being read. */
interface Begun {
  readonly number: number;
  bytes: number;
  readonly properties: Property[];
  problem: string | undefined;
}

class CalendarReader {
  readonly #given: GivenFields;
  #items: Item[] = [];
  /** Names of the components around the line. */
  #path: string[] = [];
  #begun: Begun | undefined;
  #zones = new Map<string, string>();
  #calendar: CalendarContext = { zones: this.#zones };
  #hadCalendar = false;
  /** Of the VTIMEZONE around the line. */
  #tzid: string | undefined;
  #zone: string | undefined;

  constructor(given: GivenFields) {
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

  end(): void {
    if (this.#path.length > 0) throw broken(`it ends within a ${this.#path.at(-1)}`);
    if (!this.#hadCalendar) throw broken('it is empty');
  }

  #addOne({ number, bytes }: Line): void {
    const text = bytes && isUtf8(bytes) ? bytes.toString().replace(/^\ufeff/, '') : undefined;
    if (text?.trim() === '') return;
    const property = text === undefined ? undefined : parseContentLine(text);
    if (property?.name === 'BEGIN') this.#begin(property.value.trim().toUpperCase(), number);
    else if (property?.name === 'END') this.#end(property.value.trim().toUpperCase(), number);
    else if (this.#path.length === 0) throw broken(`line ${number} is outside of a VCALENDAR`);
    else if (this.#begun && this.#path.at(-1) === 'VEVENT') {
      this.#begun.bytes += bytes?.length ?? 0;
      if (property && isWanted(property.name)) this.#begun.properties.push(property);
      this.#begun.problem ??=
        property || isPassedOver(text)
          ? problemOfSize(this.#begun)
          : `line ${number} ${problemOf(bytes, text)}`;
    } else if (property) this.#note(property);
  }

  #begin(name: string, number: number): void {
    if (this.#path.length === 0) {
      if (name !== 'VCALENDAR') throw broken(`line ${number} is outside of a VCALENDAR`);
      this.#hadCalendar = true;
      this.#zones = new Map();
      this.#calendar = { zones: this.#zones };
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
    if (name === 'VTIMEZONE' && this.#tzid !== undefined && this.#zone !== undefined) {
      this.#zones.set(this.#tzid, this.#zone);
    }
    const begun = this.#begun;
    if (!begun || this.#path.length !== 1 || name !== 'VEVENT') return;
    this.#begun = undefined;
    const calendar = this.#calendar;
    const read = () => {
      if (begun.problem) throw invalid([{ loc: ['body'], msg: begun.problem, type: 'value_error' }]);
      return readCalendarEvent(begun.properties, calendar, this.#given);
    };
    this.#items.push({ number: begun.number, bytes: begun.bytes, read });
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

/** Whether a line that cannot be read is of a property that nobody looks at: names of guests have odd quotes. */
function isPassedOver(text: string | undefined): boolean {
  const name = /^([\w-]+)[;:]/.exec(text ?? '')?.[1];
  return name !== undefined && !isWanted(name.toUpperCase());
}

function problemOfSize({ bytes }: Begun): string | undefined {
  return bytes > MAX_LINE_BYTES ? 'must not be longer than 1 MiB' : undefined;
}

function problemOf(bytes: Buffer | undefined, text: string | undefined): string {
  if (bytes === undefined) return 'must not be longer than 1 MiB';
  return text === undefined ? 'must be valid UTF-8' : 'must have a name, a colon and a value';
}

function broken(reason: string): StartError {
  return new StartError(`the file is no iCalendar that can be read: ${reason}`);
}
