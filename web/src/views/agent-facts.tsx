// Details of an agent.
import type { ComponentChildren } from 'preact';
import type { Agent } from '../api.ts';
import { Tier } from '../components/badges.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Text } from '../components/text.tsx';
import { Day, RelativeTime } from '../components/time.tsx';
import { formatNumber } from '../format.ts';

/** `agent` is undefined while it loads. */
export function AgentFacts({ agent }: { agent: Agent | undefined }) {
  const fact = (label: string, value: (agent: Agent) => ComponentChildren) => (
    <div>
      <dt>{label}</dt>
      <dd>{agent ? value(agent) : <span class="skeleton" />}</dd>
    </div>
  );
  return (
    <dl class="facts card" aria-label="Details" aria-busy={!agent}>
      {fact('E-mail', ({ email }) => (
        <Text value={email} />
      ))}
      {fact('Tier', ({ tier }) => (
        <Tier tier={tier} />
      ))}
      {fact('Events', ({ event_count }) => formatNumber(event_count))}
      {fact('ID', ({ id }) => (
        <>
          <code>{id}</code>
          <CopyButton value={id} what="ID" />
        </>
      ))}
      {fact('Created', ({ created_at }) => (
        <Day at={created_at} />
      ))}
      {fact('Last used', ({ last_used_at }) =>
        last_used_at ? <RelativeTime at={last_used_at} /> : <span class="faint">never</span>,
      )}
    </dl>
  );
}
