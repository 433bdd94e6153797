// Changes by administrators, each with its entry in the audit log. Run on the writer thread, each call in its own savepoint. Deleted
// rows are kept for a restore if the entry says so; restores are in restores.ts.
import type { DatabaseSync } from 'node:sqlite';
import {
  type AuditEntry,
  type AuditRecord,
  detailOfDeleted,
  detailOfOwner,
} from '../../domain/administration/audit.ts';
import {
  addSlice,
  type DeletedWhat,
  MAX_LISTED,
  mayExtend,
  titlesOf,
} from '../../domain/administration/undo.ts';
import type { AgentUpdate } from '../../domain/agent.ts';
import type { KeyFingerprint } from '../../domain/api-key.ts';
import { ASSUMED_DURATION_MS } from '../../domain/events/event.ts';
import type { BulkDeleted } from '../../domain/store.ts';
import { AGENT_COLUMNS, type AgentColumns } from '../columns.ts';
import { KEEP_EVENT } from '../kept-events.ts';

export interface AdminWrites {
  deleteEventAsAdmin(eventId: string, audit: AuditEntry): boolean;
  /** Returns the changed agent; undefined if it does not exist. */
  updateAgent(agentId: string, update: AgentUpdate, audit: AuditEntry): AgentColumns | undefined;
  /**
   * Deletes for all callers; `removeSlice` deletes the rows. Returns the number up to which the agent's rows are deleted;
   * undefined if the agent does not exist.
   */
  deleteAgent(agentId: string, audit: AuditEntry): number | undefined;
  deleteAgentEvents(agentId: string, audit: AuditEntry): number | undefined;
  /** Returns the IDs of the deleted events, all of this agent; undefined if the agent does not exist. */
  deleteSelectedEvents(agentId: string, eventIds: readonly string[], audit: AuditEntry): string[] | undefined;
  /** Returns the hashes of the deleted keys. */
  revokeAgentKey(agentId: string, prefix: string, audit: AuditEntry): string[];
  /** Returns the hashes of the deleted keys; undefined if the agent does not exist. */
  replaceAgentKeys(agentId: string, newKey: KeyFingerprint, audit: AuditEntry): string[] | undefined;
  /** Returns the outcome with the IDs of the deleted events. */
  deleteEvents(
    eventIds: readonly string[],
    audit: AuditEntry,
    into: number | undefined,
  ): (BulkDeleted & { readonly eventIds: string[] }) | 'wrong-entry';
  /** The same for those of these events that have ended by then. */
  removeEnded(
    eventIds: readonly string[],
    endedByMs: number,
    audit: AuditEntry,
    into: number | undefined,
  ): (BulkDeleted & { readonly eventIds: string[] }) | 'wrong-entry';
  /** Removes up to `limit` agents without events that never made a request, each with an entry. Returns their IDs. */
  removeUnusedAgents(registeredByMs: number, limit: number, audit: AuditEntry): string[];
}

/** Number and bytes of an agent's events. */
export interface Stored {
  count: number;
  bytes: number;
}

/** Statements that other calls of the writer use, too. */
export interface SharedStatements {
  /** Undefined if the agent does not exist. */
  nameOf(agentId: string): string | undefined;
  storedOf(agentId: string): Stored | undefined;
  changeStored(agentId: string, count: number, bytes: number): void;
}

/** An event that is to be deleted. */
interface DeletedEvent {
  readonly event_id: string;
  readonly agent_id: string;
  readonly title: string;
  readonly bytes: number;
  readonly ends_ms: number;
}

export function prepareAdminWrites(
  database: DatabaseSync,
  { nameOf, storedOf, changeStored }: SharedStatements,
): AdminWrites {
  const prepare = (sql: string) => database.prepare(sql);
  const findEvent = prepare(
    `SELECT event_id, agent_id, title, octet_length(json) AS bytes, coalesce(end_ms, start_ms + ${ASSUMED_DURATION_MS}) AS ends_ms
     FROM stored_events WHERE event_id = ?`,
  );
  const keepEvent = prepare(KEEP_EVENT);
  const removeEvent = prepare('DELETE FROM events WHERE event_id = ?');
  const firstTitles = prepare(
    `SELECT title FROM stored_events WHERE agent_id = ? ORDER BY start_ms, event_id LIMIT ${MAX_LISTED}`,
  );
  const keepAgent = prepare(
    `INSERT INTO deleted_agents (audit_id, agent_id, email, agent_name, tier, is_active, created_ms, last_used_ms)
     SELECT ?, agent_id, email, agent_name, tier, is_active, created_ms, last_used_ms FROM agents WHERE agent_id = ?`,
  );
  const keepKeys = prepare(
    `INSERT INTO deleted_keys (audit_id, key_hash, prefix, created_ms, expires_ms, last_used_ms)
     SELECT ?, key_hash, prefix, created_ms, expires_ms, last_used_ms FROM keys WHERE agent_id = ?`,
  );
  // Never below an earlier one, to which the rows up to its number belong.
  const beginRemoval = prepare(
    `INSERT INTO removals (agent_id, up_to_row, with_agent, audit_id)
     VALUES (?1, max((SELECT coalesce(max(row_id), 0) FROM events),
       (SELECT coalesce(max(up_to_row), 0) FROM removals WHERE agent_id = ?1)), ?2, ?3)
     ON CONFLICT DO UPDATE SET with_agent = max(with_agent, excluded.with_agent)
     RETURNING up_to_row`,
  );
  const removeKeys = prepare('DELETE FROM keys WHERE agent_id = ? RETURNING key_hash');
  const insertKey = prepare('INSERT INTO keys (key_hash, agent_id, prefix, created_ms) VALUES (?, ?, ?, ?)');
  const keepNoRemoved = prepare('UPDATE removals SET audit_id = NULL WHERE agent_id = ?');
  const forgetKept = prepare('DELETE FROM deleted_events WHERE agent_id = ?');
  const removeByPrefix = prepare(
    'DELETE FROM keys WHERE agent_id = ? AND prefix = ? AND (expires_ms IS NULL OR expires_ms > ?) RETURNING key_hash',
  );
  const zeroStored = prepare('UPDATE agents SET event_count = 0, event_bytes = 0 WHERE agent_id = ?');
  const setAgent = prepare(
    `UPDATE agents SET is_active = coalesce(?, is_active), tier = coalesce(?, tier)
     WHERE agent_id = (SELECT agent_id FROM stored_agents WHERE agent_id = ?) RETURNING ${AGENT_COLUMNS}`,
  );
  const insertAudit = prepare(
    `INSERT INTO audit (at_ms, actor_subject, actor_email, action, target, target_name, detail, count, titles, undo)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const findUnused = prepare(
    `SELECT agent_id, agent_name FROM agents WHERE last_used_ms IS NULL AND event_count = 0 AND created_ms <= ?
       AND agent_id NOT IN (SELECT agent_id FROM removals)
       AND NOT EXISTS (SELECT 1 FROM deleted_events WHERE deleted_events.agent_id = agents.agent_id) LIMIT ?`,
  );
  const removeAgent = prepare('DELETE FROM agents WHERE agent_id = ?');
  const findEntry = prepare('SELECT * FROM audit WHERE audit_id = ?');
  const extendEntry = prepare(
    'UPDATE audit SET target = ?, target_name = ?, detail = ?, titles = ?, count = ? WHERE audit_id = ?',
  );

  /** Returns the ID of the entry. */
  const record = (
    { at_ms, actor_subject, actor_email, action, target, detail, undo }: AuditEntry,
    what: { target_name: string; count: number } & Partial<DeletedWhat>,
  ): number => {
    const { target_name, count, titles = null } = what;
    const { lastInsertRowid } = insertAudit.run(
      ...[at_ms, actor_subject, actor_email, action, what.target ?? target, target_name],
      ...[what.detail ?? detail, count, titles, undo ?? null],
    );
    return Number(lastInsertRowid);
  };
  const find = (eventIds: Iterable<string>) =>
    [...new Set(eventIds)]
      .map((eventId) => findEvent.get(eventId) as DeletedEvent | undefined)
      .filter((found) => found !== undefined);
  /** Deletes the rows of events, which are kept for the entry if it says so, and subtracts them from their agents. */
  const remove = (events: readonly DeletedEvent[], auditId: number, { undo }: AuditEntry) => {
    for (const { event_id, agent_id, bytes } of events) {
      if (undo === 'kept') keepEvent.run(auditId, event_id);
      removeEvent.run(event_id);
      changeStored(agent_id, -1, -bytes);
    }
  };
  const keepAgentAndKeys = (auditId: number, agentId: string) => {
    keepAgent.run(auditId, agentId);
    keepKeys.run(auditId, agentId);
  };
  /** Deletes these events with one entry, an earlier one or a new one. */
  const removeInto = (
    events: readonly DeletedEvent[],
    titles: readonly string[],
    audit: AuditEntry,
    into: number | undefined,
  ) => {
    const earlier =
      into === undefined ? undefined : (findEntry.get(into) as unknown as AuditRecord | undefined);
    if (into !== undefined && !(earlier && mayExtend(earlier, audit))) return 'wrong-entry';
    const ids = events.map(({ event_id }) => event_id);
    if (events.length === 0) return { deleted: 0, audit_id: into ?? null, eventIds: ids };
    const agents = [...new Set(events.map(({ agent_id }) => agent_id))].map((agent_id) => ({
      ...{ agent_id, agent_name: nameOf(agent_id)! },
    }));
    const what = addSlice(earlier, { eventIds: ids, titles, agents }, audit.undo);
    let auditId = into;
    if (auditId === undefined) auditId = record(audit, what);
    else
      extendEntry.run(...[what.target, what.target_name, what.detail, what.titles], ...[what.count, auditId]);
    remove(events, auditId, audit);
    return { deleted: events.length, audit_id: auditId, eventIds: ids };
  };
  /** Deletes the agent's events for all callers. Returns the last of their rows; undefined if the agent does not exist. */
  const deleteEventsOf = (agentId: string, audit: AuditEntry, withAgent: 0 | 1): number | undefined => {
    const target_name = nameOf(agentId);
    if (target_name === undefined) return undefined;
    const { count } = storedOf(agentId)!;
    const titles = firstTitles.all(agentId).map(({ title }) => title as string);
    // With nothing to restore, there is nothing to keep.
    const undo = count === 0 && withAgent === 0 ? undefined : audit.undo;
    const auditId = record({ ...audit, undo }, { target_name, count, titles: titlesOf(titles, audit.undo) });
    if (undo === 'kept' && withAgent === 1) keepAgentAndKeys(auditId, agentId);
    zeroStored.run(agentId);
    const keptBy = undo === 'kept' ? auditId : null;
    return beginRemoval.get(agentId, withAgent, keptBy)!.up_to_row as number;
  };

  return {
    deleteEventAsAdmin(eventId, audit) {
      const [event] = find([eventId]);
      if (!event) return false;
      const { agent_id, title } = event;
      const detail = detailOfOwner({ agent_id, agent_name: nameOf(agent_id)! });
      const target_name = audit.undo === 'for_good' ? '' : title;
      remove([event], record(audit, { target_name, count: 1, detail }), audit);
      return true;
    },

    updateAgent(agentId, update, audit) {
      const active = update.is_active === undefined ? null : Number(update.is_active);
      const agent = setAgent.get(active, update.tier ?? null, agentId) as AgentColumns | undefined;
      if (agent) record(audit, { target_name: agent.agent_name, count: 1 });
      return agent;
    },

    deleteAgent(agentId, audit) {
      const upToRow = deleteEventsOf(agentId, audit, 1);
      if (upToRow === undefined) return undefined;
      removeKeys.all(agentId);
      if (audit.undo === 'for_good') {
        keepNoRemoved.run(agentId);
        forgetKept.run(agentId);
      }
      return upToRow;
    },

    deleteAgentEvents(agentId, audit) {
      return deleteEventsOf(agentId, audit, 0);
    },

    revokeAgentKey(agentId, prefix, audit) {
      const removed = removeByPrefix
        .all(agentId, prefix, audit.at_ms)
        .map(({ key_hash }) => key_hash as string);
      if (removed.length > 0) record(audit, { target_name: nameOf(agentId)!, count: 1 });
      return removed;
    },

    replaceAgentKeys(agentId, newKey, audit) {
      const target_name = nameOf(agentId);
      if (target_name === undefined) return undefined;
      const ended = removeKeys.all(agentId).map(({ key_hash }) => key_hash as string);
      insertKey.run(newKey.hash, agentId, newKey.prefix, audit.at_ms);
      record(audit, { target_name, count: 1 });
      return ended;
    },

    deleteSelectedEvents(agentId, eventIds, audit) {
      const target_name = nameOf(agentId);
      if (target_name === undefined) return undefined;
      const events = find(eventIds).filter(({ agent_id }) => agent_id === agentId);
      const removed = events.map(({ event_id }) => event_id);
      if (events.length === 0) return removed;
      const titles = titlesOf(
        events.map(({ title }) => title),
        audit.undo,
      );
      const what = { target_name, count: events.length, detail: detailOfDeleted(removed), titles };
      remove(events, record(audit, what), audit);
      return removed;
    },

    deleteEvents(eventIds, audit, into) {
      const events = find(eventIds);
      return removeInto(
        events,
        events.map(({ title }) => title),
        audit,
        into,
      );
    },

    removeEnded(eventIds, endedByMs, audit, into) {
      const ended = find(eventIds).filter(({ ends_ms }) => ends_ms <= endedByMs);
      return removeInto(ended, [], audit, into);
    },

    removeUnusedAgents(registeredByMs, limit, audit) {
      return findUnused.all(registeredByMs, limit).map((row) => {
        const { agent_id, agent_name } = row as { agent_id: string; agent_name: string };
        const isKept = audit.undo === 'kept';
        const auditId = record(
          { ...audit, target: agent_id },
          { target_name: isKept ? agent_name : '', count: 0 },
        );
        if (isKept) keepAgentAndKeys(auditId, agent_id);
        removeAgent.run(agent_id);
        return agent_id;
      });
    },
  };
}
