// The path parameter `audit_id`.

import { invalid } from '../../domain/errors.ts';
import Type from '../../domain/schema.ts';
import type { Call } from './endpoint.ts';

export const AuditPath = Type.Object({
  audit_id: Type.String({ description: 'ID of an entry of the audit log.', examples: ['42'] }),
});

/** Throws VALIDATION_ERROR. */
export function auditIdOf({ path }: Call): number {
  const id = path.audit_id!;
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id);
  throw invalid([
    { loc: ['path', 'audit_id'], msg: 'must be a whole number such as 42', type: 'int_parsing' },
  ]);
}
