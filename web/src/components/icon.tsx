// Icons in the colour of the surrounding text. Decorative only: the text says the same.
const PATHS = {
  search: 'M7 12.5a5.5 5.5 0 1 1 0-11 5.5 5.5 0 0 1 0 11Zm4-1.5 3.5 3.5',
  up: 'm4 9.5 4-4 4 4',
  down: 'm4 6.5 4 4 4-4',
  updown: 'm5 6 3-3 3 3M5 10l3 3 3-3',
  left: 'm9.5 4-4 4 4 4',
  right: 'm6.5 4 4 4-4 4',
  close: 'm4 4 8 8m0-8-8 8',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  copy: 'M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z',
  sun: 'M8 11a3 3 0 1 1 0-6 3 3 0 0 1 0 6ZM8 1v1.5m0 11V15M1 8h1.5m11 0H15M3 3l1.1 1.1m7.8 7.8L13 13m0-10-1.1 1.1M4.1 11.9 3 13',
  moon: 'M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1Z',
  screen: 'M2 3h12v8H2zm4 11h4m-2-3v3',
  warning: 'M8 2 1.5 13.5h13L8 2Zm0 5v3m0 1.8v.2',
  calendar: 'M2.5 3.5h11v10h-11zm0 3h11M5.5 1.5v3m5-3v3',
  inbox: 'M2 9.5 4 3h8l2 6.5V13H2V9.5Zm0 0h3.5L6.5 11h3l1-1.5H14',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
  filter: 'M2.5 3.5h11L9.5 8.5v4l-3 1.5V8.5z',
  trash: 'M2.5 4.5h11m-9 0 .7 9h5.6l.7-9m-5-2h3',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The product's logo. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" class="mark-ground" />
      <path
        class="mark-pin"
        d="M16 5.5c-4.7 0-8.5 3.7-8.5 8.3 0 5.7 6.6 11.5 7.9 12.5.4.3.8.3 1.2 0 1.3-1 7.9-6.8 7.9-12.5 0-4.6-3.8-8.3-8.5-8.3Z"
      />
      <circle class="mark-ground" cx="16" cy="13.8" r="3.4" />
    </svg>
  );
}
