// Changes by administrators, each with its entry in the audit log. Run on the writer thread, each call in its own savepoint. Deleted
// rows are copied for an undo if the entry says so; undos are in undo.ts.
import type { DatabaseSync } from 'node:sqlite';
import type { AuditEntry, AuditRecord } from '../../domain/administration/audit.ts';
import {
  type DeletedEvent,
  type DeletedWhat,
  describeAllDeleted,
  describeDeleted,
  MAX_LISTED,
  mayExtend,
} from '../../domain/administration/undo.ts';
import type { AgentUpdate } from '../../domain/agent.ts';
import type { KeyFingerprint } from '../../domain/api-key.ts';
import { ASSUMED_DURATION_MS } from '../../domain/events/event.ts';
import type { BulkDeleted, DeleteOptions } from '../../domain/store.ts';
import { AGENT_COLUMNS, type AgentColumns, DELETED_AGENT_COLUMNS } from '../columns.ts';
import type { GrantEnds } from './grant-ends.ts';
import { COPY_EVENT, type Removals } from './removals.ts';

export interface AdminWrites {
  /** Returns the changed agent; undefined if it does not exist. */
  updateAgent(agentId: string, update: AgentUpdate, audit: AuditEntry): AgentColumns | undefined;
  /** Returns the outcome with the IDs of the deleted events. With `endedByMs`, only events that have ended by then. */
  deleteEvents(
    eventIds: readonly string[],
    audit: AuditEntry,
    options: DeleteOptions & { readonly endedByMs?: number },
  ): (BulkDeleted & { readonly eventIds: string[] }) | 'no-agent' | 'wrong-entry';
  /**
   * Deletes for all callers; `removeSlice` deletes the rows. Returns the number up to which the agent's rows are deleted;
   * undefined if the agent does not exist.
   */
  deleteAll(agentId: string, audit: AuditEntry, withAgent: boolean): number | undefined;
  revokeAgentKey(agentId: string, prefix: string, audit: AuditEntry): EndedAccess;
  /** Undefined if the agent does not exist. */
  replaceAgentKeys(agentId: string, newKey: KeyFingerprint, audit: AuditEntry): EndedAccess | undefined;
  /** Removes up to `limit` agents without events that never made a request, each with an entry. Returns their IDs. */
  removeUnusedAgents(registeredByMs: number, limit: number, audit: AuditEntry): string[];
}

/** What has ended. */
export interface EndedAccess {
  /** Hashes. */
  readonly keys: readonly string[];
  /** IDs. */
  readonly grants: readonly string[];
}

/** Number and bytes of an agent's events. */
export interface Stored {
  count: number;
  bytes: number;
}

/** Statements for entries of the audit log. */
interface AuditStatements {
  /** Writes an entry, and returns its ID. */
  record(audit: AuditEntry, what: Pick<AuditRecord, 'target_name' | 'count'> & Partial<DeletedWhat>): number;
  findEntry(auditId: number): AuditRecord | undefined;
}

export function prepareAudit(database: DatabaseSync): AuditStatements {
  const insert = database.prepare(
    `INSERT INTO audit (at_ms, actor_subject, actor_email, action, target, target_name, detail, count, titles, undo)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const find = database.prepare('SELECT * FROM audit WHERE audit_id = ?');
  return {
    record({ at_ms, actor_subject, actor_email, action, target, detail, undo }, what) {
      const { target_name, count, titles = null } = what;
      const { lastInsertRowid } = insert.run(
        ...[at_ms, actor_subject, actor_email, action, what.target ?? target, target_name],
        ...[what.detail ?? detail, count, titles, undo ?? null],
      );
      return Number(lastInsertRowid);
    },

    findEntry: (auditId) => find.get(auditId) as unknown as AuditRecord | undefined,
  };
}

/** Statements that other calls of the writer use, too. */
export interface SharedStatements extends AuditStatements {
  /** Undefined if the agent does not exist. */
  nameOf(agentId: string): string | undefined;
  storedOf(agentId: string): Stored | undefined;
  changeStored(agentId: string, count: number, bytes: number): void;
  readonly removals: Removals;
  readonly grantEnds: GrantEnds;
}

interface FoundEvent extends DeletedEvent {
  readonly bytes: number;
  readonly ends_ms: number;
}

export function prepareAdminWrites(
  database: DatabaseSync,
  { nameOf, storedOf, changeStored, removals, grantEnds, record, findEntry }: SharedStatements,
): AdminWrites {
  const prepare = (sql: string) => database.prepare(sql);
  const findEvent = prepare(
    `SELECT event_id, agent_id, agent_name, title, octet_length(json) AS bytes,
       coalesce(end_ms, start_ms + ${ASSUMED_DURATION_MS}) AS ends_ms
     FROM stored_events JOIN agents USING (agent_id) WHERE event_id = ?`,
  );
  const copyEvent = prepare(COPY_EVENT);
  const removeEvent = prepare('DELETE FROM events WHERE event_id = ?');
  const firstTitles = prepare(
    `SELECT title FROM stored_events WHERE agent_id = ? ORDER BY start_ms, event_id LIMIT ${MAX_LISTED}`,
  );
  const copyAgent = prepare(
    `INSERT INTO deleted_agents (audit_id, ${DELETED_AGENT_COLUMNS})
     SELECT ?, ${DELETED_AGENT_COLUMNS} FROM agents WHERE agent_id = ?`,
  );
  const copyKeys = prepare(
    `INSERT INTO deleted_keys (audit_id, key_hash, prefix, created_ms, expires_ms, last_used_ms)
     SELECT ?, key_hash, prefix, created_ms, expires_ms, last_used_ms FROM keys WHERE agent_id = ?`,
  );
  const removeKeys = prepare('DELETE FROM keys WHERE agent_id = ? RETURNING key_hash');
  const insertKey = prepare('INSERT INTO keys (key_hash, agent_id, prefix, created_ms) VALUES (?, ?, ?, ?)');
  const forgetDeleted = prepare('DELETE FROM deleted_events WHERE agent_id = ?');
  const removeByPrefix = prepare(
    'DELETE FROM keys WHERE agent_id = ? AND prefix = ? AND (expires_ms IS NULL OR expires_ms > ?) RETURNING key_hash',
  );
  const zeroStored = prepare('UPDATE agents SET event_count = 0, event_bytes = 0 WHERE agent_id = ?');
  const setAgent = prepare(
    `UPDATE agents SET is_active = coalesce(?, is_active), tier = coalesce(?, tier)
     WHERE agent_id = (SELECT agent_id FROM stored_agents WHERE agent_id = ?) RETURNING ${AGENT_COLUMNS}`,
  );
  const findUnused = prepare(
    `SELECT agent_id, agent_name FROM agents WHERE last_used_ms IS NULL AND event_count = 0 AND created_ms <= ?
       AND agent_id NOT IN (SELECT agent_id FROM removals)
       AND NOT EXISTS (SELECT 1 FROM deleted_events WHERE deleted_events.agent_id = agents.agent_id) LIMIT ?`,
  );
  const removeAgent = prepare('DELETE FROM agents WHERE agent_id = ?');
  const extendEntry = prepare(
    'UPDATE audit SET target = ?, target_name = ?, detail = ?, titles = ?, count = ? WHERE audit_id = ?',
  );

  const find = (eventIds: Iterable<string>) =>
    [...new Set(eventIds)]
      .map((eventId) => findEvent.get(eventId) as FoundEvent | undefined)
      .filter((found) => found !== undefined);
  const copyAgentAndAccess = (auditId: number, agentId: string) => {
    copyAgent.run(auditId, agentId);
    copyKeys.run(auditId, agentId);
    grantEnds.keep(agentId, auditId);
  };

  return {
    updateAgent(agentId, update, audit) {
      const active = update.is_active === undefined ? null : Number(update.is_active);
      const agent = setAgent.get(active, update.tier ?? null, agentId) as AgentColumns | undefined;
      if (agent) record(audit, { target_name: agent.agent_name, count: 1 });
      return agent;
    },

    deleteEvents(eventIds, audit, { agentId, into, endedByMs = Number.POSITIVE_INFINITY }) {
      const earlier = into === undefined ? undefined : findEntry(into);
      if (into !== undefined && !(earlier && mayExtend(earlier, audit))) return 'wrong-entry';
      if (agentId !== undefined && nameOf(agentId) === undefined) return 'no-agent';
      const events = find(eventIds).filter(
        ({ agent_id, ends_ms }) => (agentId ?? agent_id) === agent_id && ends_ms <= endedByMs,
      );
      if (events.length === 0) return { deleted: 0, audit_id: into ?? null, eventIds: [] };
      const what = describeDeleted(audit, events, earlier);
      const { target, target_name, detail, titles, count } = what;
      const auditId = into ?? record(audit, what);
      if (into !== undefined) extendEntry.run(target, target_name, detail, titles, count, into);
      for (const { event_id, agent_id, bytes } of events) {
        if (audit.undo === 'kept') copyEvent.run(auditId, event_id);
        removeEvent.run(event_id);
        changeStored(agent_id, -1, -bytes);
      }
      return {
        deleted: events.length,
        audit_id: auditId,
        eventIds: events.map(({ event_id }) => event_id),
      };
    },

    deleteAll(agentId, audit, withAgent) {
      const name = nameOf(agentId);
      if (name === undefined) return undefined;
      const titles = firstTitles.all(agentId).map(({ title }) => title as string);
      const { undo, ...what } = describeAllDeleted(audit, name, titles, storedOf(agentId)!.count, withAgent);
      const auditId = record({ ...audit, undo }, what);
      if (withAgent) {
        if (undo === 'kept') copyAgentAndAccess(auditId, agentId);
        removeKeys.all(agentId);
        grantEnds.endAll(agentId);
      }
      zeroStored.run(agentId);
      const upToRow = removals.begin(agentId, withAgent, undo === 'kept' ? auditId : null);
      if (withAgent && undo === 'for_good') {
        removals.forgetUndo(agentId);
        forgetDeleted.run(agentId);
      }
      return upToRow;
    },

    revokeAgentKey(agentId, prefix, audit) {
      const keys = removeByPrefix.all(agentId, prefix, audit.at_ms).map(({ key_hash }) => key_hash as string);
      if (keys.length > 0) record(audit, { target_name: nameOf(agentId)!, count: 1 });
      return { keys, grants: keys.flatMap((keyHash) => grantEnds.endOfKey(agentId, keyHash)) };
    },

    replaceAgentKeys(agentId, newKey, audit) {
      const target_name = nameOf(agentId);
      if (target_name === undefined) return undefined;
      const keys = removeKeys.all(agentId).map(({ key_hash }) => key_hash as string);
      insertKey.run(newKey.hash, agentId, newKey.prefix, audit.at_ms);
      record(audit, { target_name, count: 1 });
      return { keys, grants: grantEnds.endAll(agentId) };
    },

    removeUnusedAgents(registeredByMs, limit, audit) {
      return findUnused.all(registeredByMs, limit).map((row) => {
        const { agent_id, agent_name } = row as { agent_id: string; agent_name: string };
        const isUndoable = audit.undo === 'kept';
        const auditId = record(
          { ...audit, target: agent_id },
          { target_name: isUndoable ? agent_name : '', count: 0 },
        );
        if (isUndoable) copyAgentAndAccess(auditId, agent_id);
        removeAgent.run(agent_id);
        return agent_id;
      });
    },
  };
}
