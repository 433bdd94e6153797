// Text that agents wrote: only ever text, kept apart from the direction of what surrounds it. Characters that cannot be seen
// but change what is, such as right-to-left overrides, are shown by their number, as far as there are a few.
import type { ComponentChild } from 'preact';

// Runs of controls except tab and line breaks, zero-width spaces, directional marks. Joiners stay: scripts and emoji need them.
const UNSEEN =
  /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]+)/;

/** Each mark is a box of its own: drawing thousands of them would hold up the page. What follows is left out. */
const MAX_MARKS = 20;

export function Text({ value }: { value: string }) {
  if (value.trim() === '') return <span class="faint">blank</span>;
  return <bdi class="text">{UNSEEN.test(value) ? markUnseen(value) : value}</bdi>;
}

/** The characters themselves are not in the page: a mark says which the first of a run is, and how many follow. */
function markUnseen(value: string): ComponentChild[] {
  return value.split(UNSEEN).map((part, index) => {
    if (index % 2 === 0) return part;
    if (index > 2 * MAX_MARKS) return '';
    const code = `U+${part.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
    const others = part.length > 1 ? ` +${part.length - 1}` : '';
    return <span key={index} class="unseen" data-code={code + others} />;
  });
}

/** What a person can see and type of it. */
export function seenOf(value: string): string {
  return value
    .split(UNSEEN)
    .filter((_part, index) => index % 2 === 0)
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .normalize('NFC');
}
