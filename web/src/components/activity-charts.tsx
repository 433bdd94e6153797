// Charts of the events and agents that were created on each of the last days, and the same numbers as a table.
import type { Activity, CreatedOnDay } from '../api.ts';
import { formatNumber, formatUtcDay } from '../format.ts';
import { useLoad } from '../use-load.ts';
import { ShortFailure } from './states.tsx';

const DAYS = 30;

/** Size of a chart in its own units; it is stretched to the width of its column. */
const BAR = 10;
const GAP = 2;
const HEIGHT = 56;

const CHARTS: readonly [key: 'events' | 'agents', title: string][] = [
  ['events', 'New events per day'],
  ['agents', 'New agents per day'],
];

/** Loads only after the list of the page: counting all events would slow it down. */
export function ActivityCharts({ isWaiting }: { isWaiting: boolean }) {
  const { data, error, isLoading, reload } = useLoad<Activity>(
    isWaiting ? undefined : `/activity?days=${DAYS}`,
  );
  return (
    <section class="activity card" aria-label="Created per day" aria-busy={isLoading}>
      {error ? (
        <p class="stats-failure" role="alert">
          <ShortFailure what="The charts could not be loaded." error={error} onRetry={reload} />
        </p>
      ) : (
        <>
          <div class="charts">
            {CHARTS.map(([key, title]) => (
              <Chart key={key} title={title} counted={key} days={data?.days} />
            ))}
          </div>
          {data && <DayTable days={data.days} />}
        </>
      )}
    </section>
  );
}

interface ChartProps {
  title: string;
  counted: 'events' | 'agents';
  /** Undefined while they load. */
  days: readonly CreatedOnDay[] | undefined;
}

function Chart({ title, counted, days }: ChartProps) {
  if (!days) {
    return (
      <figure>
        <figcaption>{title}</figcaption>
        <span class="skeleton chart-skeleton" />
      </figure>
    );
  }
  const counts = days.map((day) => day[counted]);
  const most = Math.max(...counts);
  const sum = counts.reduce((total, count) => total + count, 0);
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * HEIGHT));
  const [first, last] = [days[0]!, days.at(-1)!];
  return (
    <figure>
      <figcaption>
        {title}
        <small>
          {formatNumber(last[counted])} today · {formatNumber(most)} at most · {formatNumber(sum)} in{' '}
          {days.length} days
        </small>
      </figcaption>
      <svg
        class="chart"
        viewBox={`0 0 ${days.length * BAR} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}, from ${formatUtcDay(first.date)} to ${formatUtcDay(last.date)}; the table below has the numbers`}
      >
        {days.map((day, at) => (
          <g key={day.date}>
            <title>{`${formatUtcDay(day.date)}: ${formatNumber(day[counted])}`}</title>
            <rect class="chart-day" x={at * BAR} y={0} width={BAR} height={HEIGHT} />
            <rect
              class="chart-bar"
              x={at * BAR + GAP / 2}
              y={HEIGHT - heightOf(day[counted])}
              width={BAR - GAP}
              height={heightOf(day[counted])}
            />
          </g>
        ))}
      </svg>
      <p class="chart-ends" aria-hidden="true">
        <span>{formatUtcDay(first.date)}</span>
        <span>today</span>
      </p>
    </figure>
  );
}

function DayTable({ days }: { days: readonly CreatedOnDay[] }) {
  return (
    <details class="chart-table">
      <summary>Show the numbers</summary>
      <table>
        <caption class="visually-hidden">Created per day, in UTC, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col">New events</th>
            <th scope="col">New agents</th>
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map(({ date, events, agents }) => (
            <tr key={date}>
              <th scope="row">{formatUtcDay(date)}</th>
              <td>{formatNumber(events)}</td>
              <td>{formatNumber(agents)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
