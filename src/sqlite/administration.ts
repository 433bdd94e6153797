// Changes by administrators, and restores of what they deleted: the writer's calls, and what follows from them in memory.

import type { AuditEntry } from '../domain/administration/audit.ts';
import type { UndoOutcome, UndoStep } from '../domain/administration/undo.ts';
import type { AgentRecord, AgentRow, AgentUpdate } from '../domain/agent.ts';
import type { AppError } from '../domain/errors.ts';
import type { Words } from '../domain/events/words.ts';
import { type BulkDeleted, ROWS_PER_SLICE } from '../domain/store.ts';
import type { EventMemory } from '../memory/event-memory.ts';
import type { LastUses } from '../memory/last-uses.ts';
import type { AgentColumns } from './columns.ts';
import type { KeyOwners } from './key-owners.ts';
import type { RowRemoval } from './row-removal.ts';
import type { DeletedWords } from './threads/row-reader.ts';
import type { UndoneSlice } from './threads/undo.ts';
import type { WriterClient } from './threads/writer-client.ts';

/** Parts of the store. */
export interface AdministrationParts {
  readonly write: WriterClient['run'];
  /** The same as a step of an operation. */
  readonly step: WriterClient['run'];
  /** Why nothing may be added, if the disk is nearly full. */
  readonly refusal: () => AppError | undefined;
  readonly deletedAfter: (auditId: number, eventId: string) => Promise<DeletedWords>;
  readonly memory: EventMemory;
  readonly removal: RowRemoval;
  readonly agents: Map<string, AgentRow>;
  readonly keys: KeyOwners;
  readonly uses: LastUses;
  readonly keyUses: LastUses;
  readonly forgetAgent: (agentId: string) => void;
  readonly toAgent: (row: AgentColumns) => AgentRecord;
  /** Runs an operation of several steps. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The methods are those of the store. */
export class Administration {
  readonly #parts: AdministrationParts;

  constructor(parts: AdministrationParts) {
    this.#parts = parts;
  }

  updateAgent(agentId: string, update: AgentUpdate, audit: AuditEntry): Promise<AgentRecord | undefined> {
    const { agents, toAgent } = this.#parts;
    return this.#parts.write('updateAgent', [agentId, update, audit], (columns) => {
      const agent = agents.get(agentId);
      if (!columns || !agent) return undefined;
      agents.set(agentId, { ...agent, ...update });
      return toAgent(columns);
    });
  }

  async deleteAgent(agentId: string, audit: AuditEntry): Promise<boolean> {
    const { uses, keyUses } = this.#parts;
    // A restored agent and its keys have their last use.
    if (audit.undo === 'kept') await Promise.all([uses.write(), keyUses.write()]);
    return this.#parts.write('deleteAgent', [agentId, audit], (upToRow) => {
      this.#parts.forgetAgent(agentId);
      return this.#removeEventsOf(agentId, upToRow);
    });
  }

  deleteAgentEvents(agentId: string, audit: AuditEntry): Promise<boolean> {
    return this.#parts.write('deleteAgentEvents', [agentId, audit], (upToRow) =>
      this.#removeEventsOf(agentId, upToRow),
    );
  }

  deleteSelectedEvents(
    agentId: string,
    eventIds: readonly string[],
    audit: AuditEntry,
  ): Promise<number | undefined> {
    const { memory } = this.#parts;
    return this.#parts.write('deleteSelectedEvents', [agentId, eventIds, audit], (removed) => {
      for (const eventId of removed ?? []) memory.remove(eventId);
      return removed?.length;
    });
  }

  deleteEventAsAdmin(eventId: string, audit: AuditEntry): Promise<boolean> {
    return this.#parts.write('deleteEventAsAdmin', [eventId, audit], (removed) => {
      if (removed) this.#parts.memory.remove(eventId);
      return removed;
    });
  }

  deleteEvents(
    eventIds: readonly string[],
    audit: AuditEntry,
    into: number | undefined,
  ): Promise<BulkDeleted | 'wrong-entry'> {
    return this.#parts.write('deleteEvents', [eventIds, audit, into], (outcome) => {
      if (outcome === 'wrong-entry') return outcome;
      this.#parts.memory.removeMany(Buffer.from(outcome.eventIds.join(',')));
      return { deleted: outcome.deleted, audit_id: outcome.audit_id };
    });
  }

  async *removeEnded(
    endedByMs: number,
    audit: AuditEntry,
    into: number | undefined,
  ): AsyncGenerator<BulkDeleted> {
    const { memory, write } = this.#parts;
    let entry = into;
    for await (const eventIds of memory.idsEndedBy(endedByMs, ROWS_PER_SLICE)) {
      const remove = () =>
        write('removeEnded', [eventIds, endedByMs, audit, entry], (outcome) => {
          if (outcome === 'wrong-entry') return undefined;
          for (const eventId of outcome.eventIds) memory.remove(eventId);
          return { deleted: outcome.deleted, audit_id: outcome.audit_id };
        });
      let removed = await remove();
      if (!removed) {
        entry = undefined;
        removed = await remove();
      }
      entry = removed!.audit_id ?? undefined;
      yield removed!;
    }
  }

  undoDelete(wanted: UndoStep, audit: AuditEntry): Promise<UndoOutcome> {
    return this.#parts.run(async () => {
      const { auditId, deletedAfterMs, after } = wanted;
      const { step, refusal, deletedAfter } = this.#parts;
      const check = () => step('checkUndo', [auditId, deletedAfterMs], (state) => state);
      let state = await check();
      for (; state === 'pending'; state = await check()) {
        await step('moveSlice', [auditId, ROWS_PER_SLICE], () => {});
      }
      if (state) return { kind: state };
      const refused = refusal();
      if (refused) throw refused;
      const { ids, words, hasMore } = await deletedAfter(auditId, after);
      return step('undoSlice', [wanted, ids, audit], (outcome): UndoOutcome => {
        if (outcome.kind !== 'restored') return outcome;
        this.#applyUndo(outcome, new Map(ids.map((id, at) => [id, words[at]!])));
        const { skipped, into } = outcome;
        const last = hasMore ? ids.at(-1) : undefined;
        return { kind: 'restored', restored: outcome.events.length, skipped, last, into };
      });
    });
  }

  async *removeDeleted(deletedByMs: number): AsyncGenerator<number> {
    for (;;) {
      const removed = await this.#parts.write(
        'removeDeleted',
        [deletedByMs, ROWS_PER_SLICE],
        (count) => count,
      );
      if (removed === undefined) return;
      yield removed;
    }
  }

  #applyUndo({ agent, keys, events }: UndoneSlice, words: ReadonlyMap<string, Words>): void {
    const parts = this.#parts;
    if (agent) {
      const { last_used_ms: _, event_count: __, ...row } = parts.toAgent(agent);
      parts.agents.set(row.agent_id, row);
      for (const { key_hash, expires_ms } of keys)
        parts.keys.put(key_hash, row.agent_id, expires_ms ?? undefined);
    }
    for (const event of events) parts.memory.putValues(event, words.get(event[1])!);
  }

  /** Removes the events of the agent from the memory, and begins to delete their rows. False if nothing was deleted. */
  #removeEventsOf(agentId: string, upToRow: number | undefined): boolean {
    if (upToRow === undefined) return false;
    this.#parts.memory.removeEventsOf(agentId, upToRow);
    this.#parts.removal.begin();
    return true;
  }
}
