// Snapshots of PostgreSQL: which transactions a reader saw, and which changes it therefore has not seen.

export interface Snapshot {
  /** Every transaction below it had ended. */
  readonly xmin: bigint;
  /** No transaction from it on had ended. */
  readonly xmax: bigint;
  /** Transactions in between that had not ended. */
  readonly open: readonly bigint[];
}

/** Reads the text of a pg_snapshot: xmin:xmax:open,open. */
export function parseSnapshot(text: string): Snapshot {
  const [xmin = '', xmax = '', open = ''] = text.split(':');
  return {
    xmin: BigInt(xmin),
    xmax: BigInt(xmax),
    open: open === '' ? [] : open.split(',').map(BigInt),
  };
}

/** The open transactions as the text of an array. */
export function openOf({ open }: Snapshot): string {
  return `{${open.join(',')}}`;
}

/**
 * SQL: changes that the snapshot did not show. `xmax` and `open` are SQL expressions. Not `xid >= xmin`: while a transaction stays
 * open, that would be every change since it began. Changes of transactions that are still open are not even looked at: there may
 * be many.
 */
export function unseen(xmax: string, open: string, condition = 'true'): string {
  const ended = `SELECT xid FROM unnest(${open}::xid8[]) AS xid WHERE pg_visible_in_snapshot(xid, pg_current_snapshot())`;
  return `(SELECT xid, event_id, stamp, is_delete FROM event_changes
      WHERE xid >= ${xmax}::xid8 AND xid < pg_snapshot_xmax(pg_current_snapshot()) AND ${condition}
    UNION ALL SELECT xid, event_id, stamp, is_delete FROM event_changes WHERE xid = ANY (ARRAY(${ended})) AND ${condition})`;
}
