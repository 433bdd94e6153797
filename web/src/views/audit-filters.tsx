// Filters above the audit log: text, kind of change, administrator and days. All are in the URL.
import { SelectFilter, TextFilter } from '../components/filter-fields.tsx';
import { SearchField } from '../components/search-field.tsx';
import type { ListState } from '../list-state.ts';
import type { Place } from '../router.ts';

const ACTIONS: readonly [value: string, label: string][] = [
  ['update_agent', 'Changed an agent'],
  ['revoke_key', 'Revoked a key'],
  ['new_key', 'Gave a new key'],
  ['end_grant', 'Ended a grant'],
  ['delete_agent', 'Deleted an agent'],
  ['delete_agent_events', 'Deleted all events'],
  ['delete_selected_events', 'Deleted selected events'],
  ['delete_event', 'Deleted an event'],
  ['delete_events', 'Deleted events of any agents'],
  ['restore', 'Restored'],
];

/** Names in the URL; `q` is the list's own. */
const NAMES = ['action', 'actor', 'from', 'to'] as const;

/** Parameters for the API. Days are the viewer's; the last one is included. */
export function auditParameters({ query }: Place): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const name of ['action', 'actor'] as const) {
    const value = query.get(name);
    if (value) parameters[name] = value;
  }
  const from = startOfDay(query.get('from'), 0);
  const to = startOfDay(query.get('to'), 1);
  if (from) parameters.after = from;
  if (to) parameters.before = to;
  return parameters;
}

export function hasAuditFilters({ query }: Place): boolean {
  return ['q', ...NAMES].some((name) => query.get(name));
}

/** The start of the day, or of a later one, as the API expects it; undefined unless it is a date. */
function startOfDay(day: string | null, later: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? [];
  const at = new Date(Number(year), Number(month) - 1, Number(date) + later);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

export function AuditFilters({ place, list }: { place: Place; list: ListState }) {
  const chosenOf = (name: (typeof NAMES)[number]) => place.query.get(name) ?? '';
  return (
    <div class="audit-filters">
      <SearchField
        label="Search the audit log"
        placeholder="Search by title, name, ID or e-mail"
        value={list.q}
        onSearch={list.search}
      />
      <SelectFilter
        label="What"
        value={chosenOf('action')}
        options={[['', 'All changes'], ...ACTIONS]}
        onChoose={(action) => list.filter('action', action)}
      />
      <TextFilter
        label="Who"
        placeholder="E-mail or subject"
        maxLength={255}
        value={chosenOf('actor')}
        onChoose={(actor) => void list.filter('actor', actor)}
      />
      {(['from', 'to'] as const).map((name) => (
        <label key={name}>
          <span>{name === 'from' ? 'From' : 'To'}</span>
          <input
            type="date"
            value={chosenOf(name)}
            onChange={(event) => list.filter(name, event.currentTarget.value)}
          />
        </label>
      ))}
    </div>
  );
}
