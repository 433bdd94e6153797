// Opened by Ctrl+K: finds views, agents and events by what is typed, and goes there. Moves with the arrow keys.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { AgentPage, AllEventsPage } from '../api.ts';
import { agentUrl, eventsUrl, navigate } from '../router.ts';
import { withPrefix } from '../typed-search.ts';
import { useLoad } from '../use-load.ts';
import { Icon } from './icon.tsx';
import { Modal } from './modal.tsx';
import { Text } from './text.tsx';

const PAUSE_MS = 150;
/** Limit of the API. */
const MAX_LENGTH = 200;
/** Agents and events shown at most, of each. */
const FOUND = 5;

interface Entry {
  readonly key: string;
  readonly kind: string;
  readonly label: string;
  readonly run: () => void;
}

interface CommandPaletteProps {
  onClose: () => void;
  onShortcuts: () => void;
}

export function CommandPalette({ onClose, onShortcuts }: CommandPaletteProps) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const q = useSettled(text.trim());
  useEffect(() => input.current?.focus(), []);

  const go = (url: string) => () => {
    onClose();
    navigate(url);
  };
  const views: readonly Entry[] = [
    { key: 'agents', kind: 'View', label: 'Agents', run: go('/admin') },
    { key: 'events', kind: 'View', label: 'Events', run: go('/admin/events') },
    { key: 'audit', kind: 'View', label: 'Audit log', run: go('/admin/audit') },
    { key: 'docs', kind: 'Page', label: 'API', run: () => location.assign('/docs') },
    { key: 'shortcuts', kind: 'Help', label: 'Keyboard shortcuts', run: onShortcuts },
  ];
  const typed = text.trim().toLowerCase();
  const found = useFound(q, go);
  const isSearching = q !== text.trim() || !found;
  const entries: readonly Entry[] = [
    ...views.filter(({ label }) => label.toLowerCase().includes(typed)),
    ...(typed === '' || isSearching || !found ? [] : found),
  ];
  const chosen = Math.min(at, entries.length - 1);
  const move = (step: number) => setAt((chosen + step + entries.length) % entries.length);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to what was chosen
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <Modal class="confirm palette" labelledBy={`${id}-title`} onClose={onClose}>
      <h2 id={`${id}-title`} class="visually-hidden">
        Find
      </h2>
      <div class="palette-field">
        <Icon name="search" />
        <input
          ref={input}
          type="text"
          role="combobox"
          aria-label="Find a view, an agent or an event"
          aria-expanded={entries.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={entries.length > 0 ? `${id}-${chosen}` : undefined}
          aria-autocomplete="list"
          placeholder="Find a view, an agent or an event"
          maxLength={MAX_LENGTH}
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (step !== undefined && entries.length > 0) {
              event.preventDefault();
              move(step);
            }
            if (event.key === 'Enter') {
              // Otherwise the key would also press what gets the focus back.
              event.preventDefault();
              entries[chosen]?.run();
            }
          }}
        />
      </div>
      <div id={`${id}-list`} class="palette-list" role="listbox" aria-label="Found" ref={list}>
        {entries.map(({ key, kind, label, run }, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the field, which keeps the focus
          <div
            key={key}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onPointerMove={() => setAt(index)}
            onClick={run}
          >
            <span class="cut">
              <Text value={label} />
            </span>
            <span class="second">{kind}</span>
          </div>
        ))}
      </div>
      <p class="palette-empty" role="status">
        {entries.length > 0 ? '' : isSearching ? 'Searching…' : 'Nothing found.'}
      </p>
    </Modal>
  );
}

/** The text once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/**
 * Agents and events that match the text, and their list; undefined while they load. What matched an earlier text is never shown:
 * Enter would open something else than was read.
 */
function useFound(q: string, go: (url: string) => () => void): Entry[] | undefined {
  const queryOf = (text: string) => new URLSearchParams({ limit: String(FOUND), q: text });
  const agents = useLoad<AgentPage>(q === '' ? undefined : `/agents?${queryOf(q)}`);
  const events = useLoad<AllEventsPage>(q === '' ? undefined : `/events?${queryOf(withPrefix(q))}`);
  if (q === '') return [];
  if (agents.isLoading || events.isLoading) return undefined;
  const foundAgents = agents.error ? [] : (agents.data?.agents ?? []);
  const foundEvents = events.error ? [] : (events.data?.events ?? []);
  return [
    ...foundAgents.map(({ id, agent_name }) => ({
      ...{ key: id, kind: 'Agent', label: agent_name },
      run: go(agentUrl(id)),
    })),
    ...foundEvents.map(({ event_id, title }) => ({
      ...{ key: event_id, kind: 'Event', label: title },
      run: go(eventsUrl({ q, event: event_id })),
    })),
    ...(foundEvents.length > 0
      ? [{ key: 'all', kind: 'List', label: `All events with “${q}”`, run: go(eventsUrl({ q })) }]
      : []),
  ];
}
