// Search field: searches after a short pause in typing, or at once on Enter. The key "/" focuses it.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

const PAUSE_MS = 250;
/** Limit of the API. */
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
  const submitted = useRef(value);

  // The URL was changed elsewhere: back button, "Clear the search", or another view.
  useEffect(() => {
    if (value === submitted.current) return;
    submitted.current = value;
    setText(value);
  }, [value]);

  // The search runs later, with the onSearch of the latest render.
  const search = useRef(onSearch);
  search.current = onSearch;
  const submit = useCallback((entered: string) => {
    const q = entered.trim();
    if (q === submitted.current) return;
    submitted.current = q;
    search.current(q);
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => submit(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, submit]);

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
          if (event.key === 'Enter') submit(text);
          if (event.key === 'Escape') {
            setText('');
            submit('');
          }
        }}
      />
    </search>
  );
}
