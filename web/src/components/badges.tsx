// Badges for an agent's tier and state.
import type { Agent } from '../api.ts';

export function Tier({ tier }: { tier: Agent['tier'] }) {
  return <span class="badge">{tier}</span>;
}

export function Active({ isActive }: { isActive: boolean }) {
  return (
    <span class={isActive ? 'status on' : 'status off'}>
      <span class="dot" aria-hidden="true" />
      {isActive ? 'Active' : 'Inactive'}
    </span>
  );
}
