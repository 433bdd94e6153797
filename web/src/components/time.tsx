// Moments, with the exact one behind every short form.
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

/** In the event's timezone; where the viewer's clock says something else, that is the title. */
export function EventTime({ at, timezone }: { at: string; timezone: string }) {
  const { text, zone, local } = formatEventTime(at, timezone);
  const title = local ? `${timezone}; for you ${local}` : timezone;
  return (
    <time dateTime={at} title={title}>
      {text} <span class="zone">{zone}</span>
    </time>
  );
}
