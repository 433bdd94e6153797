// Administrators' endpoints for the audit log: its entries, and the undo of what they deleted.
import { AuditLogResponse } from '../../domain/administration/audit.ts';
import { AuditParameters, readAuditQuery } from '../../domain/administration/list.ts';
import { readUndoPosition, UndoParameters, UndoResponse } from '../../domain/administration/undo.ts';
import { invalid, readTogether } from '../../domain/errors.ts';
import Type from '../../domain/schema.ts';
import * as admin from '../../usecases/admin.ts';
import * as lists from '../../usecases/admin-lists.ts';
import { queryReader } from '../request/query.ts';
import { adminEndpoint, type Call, type Route } from './endpoint.ts';

const readAuditParameters = queryReader(AuditParameters, readAuditQuery);

const listAudit = adminEndpoint({
  operationId: 'listAudit',
  summary: 'Read the audit log',
  description:
    'Returns what administrators changed: who, what, when and how many. Newest first, in pages. An entry must match all filters; total counts the matches.',
  query: AuditParameters,
  response: AuditLogResponse,
  read: ({ query }) => readAuditParameters(query),
  handle: ({ context }, query) => lists.listAudit(context, query),
});

const AuditPath = Type.Object({
  audit_id: Type.String({ description: 'ID of an entry of the audit log.', examples: ['42'] }),
});

/** Throws VALIDATION_ERROR. */
function auditIdOf({ path }: Call): number {
  const id = path.audit_id!;
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id);
  throw invalid([
    { loc: ['path', 'audit_id'], msg: 'must be a whole number such as 42', type: 'int_parsing' },
  ]);
}

const readUndoParameters = queryReader(UndoParameters, readUndoPosition);

const undoDelete = adminEndpoint({
  operationId: 'restoreDeleted',
  summary: 'Restore what was deleted',
  description:
    'Undoes the delete of this audit entry: events come back with the same ID, version and content, a deleted agent also with its keys. Events whose title, start and place their agent has used again are skipped, as are those of a deleted agent. What is already restored is not restored again, so a repeated request restores nothing more. Many events take several requests: repeat it with cursor until next_cursor is null. Possible for KEEP_DELETED_DAYS.',
  path: AuditPath,
  query: UndoParameters,
  response: UndoResponse,
  errors: ['NOT_FOUND', 'NOT_RESTORABLE'],
  read: (call) =>
    readTogether(
      () => auditIdOf(call),
      () => readUndoParameters(call.query),
    ),
  handle: ({ context, caller }, [auditId, position]) => admin.undoDelete(context, caller, auditId, position),
});

export const routes: readonly Route[] = [
  ['GET', '/v1/admin/audit', listAudit],
  ['POST', '/v1/admin/audit/{audit_id}/restore', undoDelete],
];
