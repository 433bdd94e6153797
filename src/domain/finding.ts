// What the command `check` says about an installation.
import type { Store } from './store.ts';

/** In the order in which they are printed. */
export const CHECKED = ['settings', 'disk', 'clock', 'database', 'schema'] as const;

export interface Finding {
  readonly about: (typeof CHECKED)[number];
  /** `note`: nothing has to be done. */
  readonly kind: 'ok' | 'note' | 'problem';
  readonly text: string;
}

/** What the clock of this machine is compared with. */
export type TimeSource = Pick<Store, 'findSetting' | 'referenceTime'>;
