// Which way the searches of a node take from now on, and the log line that says so.

export type SearchChange =
  | { readonly by: 'memory'; readonly events: number; readonly tookMs: number }
  | {
      readonly by: 'database';
      readonly reason: 'too large' | 'reload' | 'pooler' | 'failure';
      readonly events?: number;
      readonly cause?: unknown;
    };

export function describeSearchChange(change: SearchChange): [level: 'info' | 'warn' | 'error', text: string] {
  if (change.by === 'memory') {
    const took = Math.ceil(change.tookMs);
    return ['info', `Searches are answered from memory: ${change.events} events, loaded in ${took} ms.`];
  }
  switch (change.reason) {
    case 'too large':
      return [
        'warn',
        `The index of ${change.events} events would be larger than INDEX_MAX_MB. Searches use the database and are slower.`,
      ];
    case 'pooler':
      return [
        'info',
        'DATABASE_URL leads to a pooler, so searches use the database. To search in memory, connect to PostgreSQL directly.',
      ];
    case 'reload':
      return ['info', 'All events are loaded again. Searches use the database until then.'];
    case 'failure':
      return ['error', 'The events could not be loaded into memory. Searches use the database.'];
  }
}
