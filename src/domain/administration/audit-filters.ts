// Filters of the audit log: the parameters, and what the stores compare.

import { instant, instantsIn } from '../datetime.ts';
import { type Issue, refuse } from '../errors.ts';
import Type from '../schema.ts';
import { oneOf } from '../shape.ts';
import { foldCase } from './admin.ts';
import { AUDIT_ACTIONS, type AuditAction } from './audit.ts';

/** An entry is listed if it matches all that is set. */
export interface AuditFilters {
  /** The subject, or the e-mail with foldCase applied: an entry matches if either is equal. */
  readonly actor?: { readonly subject: string; readonly email: string } | undefined;
  readonly action?: AuditAction | undefined;
  /** The agent that was changed, or that owned what was deleted. */
  readonly agentId?: string | undefined;
  /** Inclusive. */
  readonly fromMs?: number | undefined;
  /** Exclusive. */
  readonly beforeMs?: number | undefined;
  /** Text to find literally in the name or ID of the target, in titles, or in the actor's e-mail, ignoring case; or a whole ID. */
  readonly q?: string | undefined;
}

/** Search texts that can be the ID of an event or an agent: the detail of an entry has more of them than its target. */
export const CAN_BE_ID = /^(?:[\da-z]{26}|[\da-f-]{36})$/i;

export const AUDIT_FILTERS = {
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Only changes by this administrator: the e-mail, ignoring case, or the subject.',
    }),
  ),
  action: Type.Optional(oneOf(AUDIT_ACTIONS, { description: 'Only this kind of change.' })),
  agent_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'Only changes of this agent, its keys and its events. A delete of events of more than 100 agents is found by the first 100.',
    }),
  ),
  after: instant('Inclusive: at >= value.'),
  before: instant('Exclusive: at < value.'),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      default: '',
      description:
        'Text to find literally, anywhere in target_name, target, actor_email or one of the titles of deleted events, ignoring case. A whole ID also finds bulk deletes that name it. The empty text matches everything.',
    }),
  ),
};

type Parameters = { [Name in Exclude<keyof typeof AUDIT_FILTERS, 'action'>]?: string } & {
  action?: AuditAction;
};

/** Undefined if there are none. Throws VALIDATION_ERROR for times that the schema allows and the service does not. */
export function readAuditFilters(sent: Parameters): AuditFilters | undefined {
  const issues: Issue[] = [];
  const readInstant = instantsIn(sent, 'query', issues);
  const { actor, action, agent_id, q } = sent;
  const filters = {
    actor: actor === undefined ? undefined : { subject: actor, email: foldCase(actor) },
    action,
    agentId: agent_id?.toLowerCase(),
    fromMs: readInstant('after'),
    beforeMs: readInstant('before'),
    q: q || undefined,
  };
  refuse(issues);
  return Object.values(filters).some((value) => value !== undefined) ? filters : undefined;
}
