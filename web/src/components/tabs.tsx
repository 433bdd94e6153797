// Tabs for one panel, with arrow key navigation.
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { formatNumber } from '../format.ts';

interface TabsProps<Value extends string> {
  label: string;
  /** The count is shown if it is known. */
  tabs: readonly (readonly [value: Value, label: string, count?: number | undefined])[];
  /** `views`: the tabs of a page; otherwise a choice within it. */
  look?: 'views';
  chosen: Value;
  /** ID of the panel that the tabs control. */
  panelId: string;
  onChoose: (value: Value) => void;
}

export function Tabs<Value extends string>(props: TabsProps<Value>) {
  const { label, tabs, chosen, panelId, look, onChoose } = props;
  const root = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(([value]) => value === chosen);
    const next = (at + step + tabs.length) % tabs.length;
    onChoose(tabs[next]![0]);
    root.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <div
      class={look ? 'tabs views' : 'tabs'}
      role="tablist"
      tabIndex={-1}
      aria-label={label}
      ref={root}
      onKeyDown={move}
    >
      {tabs.map(([value, text, count]) => (
        <button
          key={value}
          id={`${panelId}-${value}`}
          type="button"
          role="tab"
          aria-selected={value === chosen}
          aria-controls={panelId}
          tabIndex={value === chosen ? 0 : -1}
          onClick={() => value !== chosen && onChoose(value)}
        >
          {text}
          {count !== undefined && <span class="count">{formatNumber(count)}</span>}
        </button>
      ))}
    </div>
  );
}

/** Content of the chosen tab. */
export function TabPanel(props: { id: string; chosen: string; children: ComponentChildren }) {
  return (
    <div id={props.id} role="tabpanel" aria-labelledby={`${props.id}-${props.chosen}`}>
      {props.children}
    </div>
  );
}
