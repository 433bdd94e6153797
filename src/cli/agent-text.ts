// Agents as people read them on a terminal. Names come from strangers, so they are made safe to print.

import type { describeAgentDetails } from '../domain/administration/agent-details.ts';
import type { summarise } from '../domain/agent.ts';
import { printable } from './command.ts';

type Summary = ReturnType<typeof summarise>;
type Details = ReturnType<typeof describeAgentDetails>;

/** Longer names are cut: a table of them would be hard to read. */
const MAX_NAME_LENGTH = 40;

const HEAD = ['ID', 'NAME', 'E-MAIL', 'TIER', 'STATE', 'EVENTS', 'LAST USED'];

export function agentTable(agents: readonly Summary[]): string {
  const rows = agents.map((agent) => [
    ...[agent.id, shorten(printable(agent.agent_name)), printable(agent.email), agent.tier],
    ...[stateOf(agent), String(agent.event_count), agent.last_used_at ?? 'never'],
  ]);
  const widths = HEAD.map((head, at) =>
    rows.reduce((most, row) => Math.max(most, row[at]!.length), head.length),
  );
  return [HEAD, ...rows]
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function agentLines(
  agent: Omit<Details, 'quota'> & { quota: Omit<Details['quota'], 'requests'> },
): string {
  const { events, bytes } = agent.quota;
  const of = ({ used, limit }: typeof events) =>
    limit === null ? `${used}, no limit` : `${used} of ${limit}`;
  const lines = [
    ['id', agent.id],
    ['name', printable(agent.agent_name)],
    ['e-mail', printable(agent.email)],
    ['tier', agent.tier],
    ['state', stateOf(agent)],
    ['created', agent.created_at],
    ['last used', agent.last_used_at ?? 'never'],
    ['events', of(events)],
    ['bytes', of(bytes)],
    ...agent.keys.map((key) => [
      'key',
      [
        `${key.prefix}…  created ${key.created_at}, last used ${key.last_used_at ?? 'never'}`,
        ...(key.expires_at === null || key.expires_at === undefined ? [] : [`expires ${key.expires_at}`]),
      ].join(', '),
    ]),
  ];
  if (agent.keys.length === 0) lines.push(['key', 'none']);
  return lines.map(([name, value]) => `${name!.padEnd(10)} ${value}`).join('\n');
}

function stateOf({ is_active }: Summary): string {
  return is_active ? 'active' : 'deactivated';
}

function shorten(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH - 1).toWellFormed()}…` : name;
}
