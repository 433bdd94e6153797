// What the command `check` says about an installation.

/** In the order in which they are printed. */
export const CHECKED = ['settings', 'disk', 'clock', 'database', 'schema'] as const;

export interface Finding {
  readonly about: (typeof CHECKED)[number];
  /** `note`: nothing has to be done. */
  readonly kind: 'ok' | 'note' | 'problem';
  readonly text: string;
}
