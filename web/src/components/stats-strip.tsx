// Counts above the list of agents.
import type { Stats } from '../api.ts';
import { formatNumber } from '../format.ts';
import { useLoad } from '../use-load.ts';
import { ShortFailure } from './states.tsx';

const COUNTS: readonly [key: keyof Stats, label: string, hint: string][] = [
  ['agents', 'Agents', 'registered'],
  ['agents_active_today', 'Active today', 'in the last 24 hours'],
  ['events', 'Events', 'including ended ones'],
  ['events_upcoming', 'Upcoming', 'not ended or cancelled'],
];

export function StatsStrip() {
  const { data, error, isLoading, reload } = useLoad<Stats>('/stats');
  return (
    <section class="stats" aria-label="Counts" aria-busy={isLoading}>
      {error ? (
        <p class="stats-failure" role="alert">
          <ShortFailure what="The counts could not be loaded." error={error} onRetry={reload} />
        </p>
      ) : (
        <dl>
          {COUNTS.map(([key, label, hint]) => (
            <div key={key}>
              <dt>{label}</dt>
              <dd>
                {data ? <strong>{formatNumber(data[key])}</strong> : <span class="skeleton" />}
                <small>{hint}</small>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
