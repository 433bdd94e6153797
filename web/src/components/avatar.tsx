// Picture of the signed-in user; initials if there is none or it does not load.
import { useState } from 'preact/hooks';
import type { User } from '../api.ts';

function initialsOf({ name, email }: User): string {
  const words = (name || email).split(/[\s@._-]+/).filter(Boolean);
  const chosen = words.length > 1 && name !== email ? [words[0]!, words.at(-1)!] : words.slice(0, 1);
  return chosen.map((word) => [...word][0]!.toUpperCase()).join('') || '?';
}

export function Avatar({ user }: { user: User }) {
  const [failed, setFailed] = useState(false);
  // Only URLs on this service, whatever the session contains.
  const picture = user.picture.startsWith('/admin/') && !failed ? user.picture : undefined;
  return (
    <span class="avatar" data-initials={picture ? undefined : initialsOf(user)}>
      {picture && <img src={picture} alt="" onError={() => setFailed(true)} />}
    </span>
  );
}
