// A search field: what is typed counts after a short pause, or at once with Enter. The key "/" leads here.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

const PAUSE_MS = 250;
/** What the API takes. */
const MAX_LENGTH = 200;

interface SearchFieldProps {
  label: string;
  placeholder: string;
  value: string;
  onSearch: (text: string) => void;
}

export function SearchField({ label, placeholder, value, onSearch }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const asked = useRef(value);

  // The address changed from elsewhere: going back, clearing, another view.
  useEffect(() => {
    if (value === asked.current) return;
    asked.current = value;
    setText(value);
  }, [value]);

  // What was typed is asked for a little later, by what the view then is.
  const search = useRef(onSearch);
  search.current = onSearch;
  const ask = useCallback((wanted: string) => {
    const q = wanted.trim();
    if (q === asked.current) return;
    asked.current = q;
    search.current(q);
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => ask(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, ask]);

  useEffect(() => {
    const focusByKey = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target instanceof Element && target.closest('input, textarea, select, dialog')) return;
      event.preventDefault();
      input.current?.select();
    };
    document.addEventListener('keydown', focusByKey);
    return () => document.removeEventListener('keydown', focusByKey);
  }, []);

  return (
    <search class="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder={placeholder}
        maxLength={MAX_LENGTH}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') ask(text);
          if (event.key === 'Escape') {
            setText('');
            ask('');
          }
        }}
      />
    </search>
  );
}
