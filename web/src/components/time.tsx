// Times in a short format, with the exact time as tooltip.
import { formatDay, formatEventTime, formatFull, formatRelative } from '../format.ts';
import { useNow } from '../use-now.ts';

export function RelativeTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatFull(at)}>
      {formatRelative(at, useNow())}
    </time>
  );
}

export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatFull(at)}>
      {formatDay(at)}
    </time>
  );
}

/** In the event's timezone. If the viewer's local time differs, the tooltip shows it. */
export function EventTime({ at, timezone }: { at: string; timezone: string }) {
  const { text, zone, local } = formatEventTime(at, timezone);
  const title = local ? `${timezone}; your time: ${local}` : timezone;
  return (
    <time dateTime={at} title={title}>
      {text} <span class="zone">{zone}</span>
    </time>
  );
}
