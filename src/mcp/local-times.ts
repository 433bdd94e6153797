// The times of an event in words, for models, which are bad at weekdays and at converting UTC.

/** Times with an offset, as formatLocal writes them. */
export interface LocalTimes {
  readonly start_local: string;
  readonly end_local: string | null;
}

/**
 * Such as "Thu 1 May 2031, 18:00–20:00 UTC+2" or "Thu 1 May 2031, 22:00 – Fri 2 May, 02:00 UTC+2". With a timezone, its name is before
 * the offset. The start has an offset of its own if the clocks change before the end.
 */
export function describeTimes({ start_local, end_local }: LocalTimes, timezone?: string): string {
  const start = readLocal(start_local);
  const from = `${start.day} ${start.year}, ${start.clock}`;
  const end = end_local === null ? start : readLocal(end_local);
  const zone = timezone === undefined ? end.offset : `${timezone} (${end.offset})`;
  if (end.offset !== start.offset)
    return `${from} ${start.offset} – ${end.day} ${end.year}, ${end.clock} ${zone}`;
  if (end.year !== start.year) return `${from} – ${end.day} ${end.year}, ${end.clock} ${zone}`;
  if (end.day !== start.day) return `${from} – ${end.day}, ${end.clock} ${zone}`;
  return end.clock === start.clock ? `${from} ${zone}` : `${from}–${end.clock} ${zone}`;
}

const LOCAL = /^((\d{4})-(\d\d)-(\d\d))T(\d\d:\d\d):(\d\d)(?:\.\d+)?(?:Z|([+-])(\d\d):(\d\d))$/;

function readLocal(text: string): { day: string; year: string; clock: string; offset: string } {
  const [, date, year, month, day, clock, seconds, sign, hours, minutes] = LOCAL.exec(text)!;
  const weekday = WEEKDAYS[new Date(`${date}T00:00:00Z`).getUTCDay()];
  const shift = `${Number(hours ?? 0)}${minutes === undefined || minutes === '00' ? '' : `:${minutes}`}`;
  return {
    day: `${weekday} ${Number(day)} ${MONTHS[Number(month) - 1]}`,
    year: year!,
    clock: seconds === '00' ? clock! : `${clock}:${seconds}`,
    offset: shift === '0' ? 'UTC' : `UTC${sign}${shift}`,
  };
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
