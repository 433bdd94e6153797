// How much of its limits an agent uses: a bar each.
import type { AgentDetails } from '../api.ts';
import { formatBytes, formatNumber } from '../format.ts';
import { useNow } from '../use-now.ts';

export function AgentQuota({ quota }: { quota: AgentDetails['quota'] | undefined }) {
  const requests = quota?.requests;
  const now = useNow();
  const minutes = requests?.resets_at
    ? Math.max(1, Math.ceil((Date.parse(requests.resets_at) - now) / 60_000))
    : undefined;
  return (
    <section class="quotas card" aria-label="Limits" aria-busy={!quota}>
      <Use
        label="Requests this hour"
        isKnown={quota !== undefined}
        used={requests?.used}
        limit={requests?.limit ?? null}
        format={formatNumber}
        hint={minutes === undefined ? undefined : `resets in ${formatNumber(minutes)} min`}
      />
      <Use
        label="Events stored"
        isKnown={quota !== undefined}
        used={quota?.events.used}
        limit={quota?.events.limit ?? null}
        format={formatNumber}
      />
      <Use
        label="Storage"
        isKnown={quota !== undefined}
        used={quota?.bytes.used}
        limit={quota?.bytes.limit ?? null}
        format={formatBytes}
      />
    </section>
  );
}

interface UseProps {
  label: string;
  isKnown: boolean;
  /** Undefined if it is not counted. */
  used: number | undefined;
  /** Null: no limit. */
  limit: number | null;
  format: (value: number) => string;
  hint?: string | undefined;
}

/** The bar is decorative: the text says the same. */
function Use({ label, isKnown, used, limit, format, hint }: UseProps) {
  const share = used === undefined || limit === null ? 0 : Math.min(1, used / limit);
  return (
    <div class="quota">
      <h2>{label}</h2>
      {isKnown ? (
        <p>
          {used !== undefined && <strong>{format(used)}</strong>}
          {used !== undefined && limit !== null && ` of ${format(limit)}`}
          {limit === null && (used === undefined ? 'no limit' : ', no limit')}
          {hint && <small> · {hint}</small>}
        </p>
      ) : (
        <p>
          <span class="skeleton" />
        </p>
      )}
      {(!isKnown || limit !== null) && (
        <div class={share >= 0.9 ? 'bar nearly-full' : 'bar'} aria-hidden="true">
          <div style={{ width: `${share * 100}%` }} />
        </div>
      )}
    </div>
  );
}
