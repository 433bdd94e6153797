// Text written by agents: always plain text, isolated from the text direction around it. Invisible characters that change
// the display, such as right-to-left overrides, are shown as code points, up to a limit.
import type { ComponentChild } from 'preact';

// Runs of controls except tab and line breaks, zero-width spaces, directional marks. Joiners stay: scripts and emoji need them.
const INVISIBLE =
  /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]+)/;

/** Maximum number of marks. Each is a separate box, and thousands would block the page. Further ones are omitted. */
const MAX_MARKS = 20;

export function Text({ value }: { value: string }) {
  if (value.trim() === '') return <span class="faint">blank</span>;
  return <bdi class="text">{INVISIBLE.test(value) ? markInvisible(value) : value}</bdi>;
}

/** Replaces each run of invisible characters by a mark with the first code point and the number of further ones. */
function markInvisible(value: string): ComponentChild[] {
  return value.split(INVISIBLE).map((part, index) => {
    if (index % 2 === 0) return part;
    if (index > 2 * MAX_MARKS) return '';
    const code = `U+${part.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
    const others = part.length > 1 ? ` +${part.length - 1}` : '';
    return <span key={index} class="unseen" data-code={code + others} />;
  });
}

/** The part of the text that a person can see and type. */
export function visibleText(value: string): string {
  return value
    .split(INVISIBLE)
    .filter((_part, index) => index % 2 === 0)
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .normalize('NFC');
}
