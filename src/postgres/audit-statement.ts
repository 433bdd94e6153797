// SQL of the filtered audit log. One statement returns a page and its exact total, from one snapshot.
import { type AuditFilters, CAN_BE_ID } from '../domain/administration/audit-filters.ts';
import { type AuditQuery, ESCAPED_IN_JSON } from '../domain/administration/list.ts';
import { isFound, Values } from './list-statements.ts';
import type { Statement } from './search.ts';

/** As in the index audit_by_agent. */
const AGENT = `coalesce(substring(detail FROM '"agent_id":"([0-9a-f-]{36})"'), target)`;

/** Rows consist of total and the columns of audit. If the page is empty, a single row has only the total. */
export function auditPageStatement({ after, limit, filters = {} }: AuditQuery): Statement {
  const values = new Values();
  const conditions = conditionsOf(filters, values);
  const isAfter = after === undefined ? 'true' : `id < ${values.put(after, 'bigint')}`;
  // A search for text is expensive, so it runs once, for page and total. So does one for old entries: otherwise the page is looked
  // for from the newest entry on.
  const isOnce = filters.q !== undefined || filters.beforeMs !== undefined;
  const text = `WITH matching AS ${isOnce ? 'MATERIALIZED' : 'NOT MATERIALIZED'} (
      SELECT audit_id AS id FROM audit WHERE ${conditions.join(' AND ')}
    ),
    page AS (SELECT id FROM matching WHERE ${isAfter} ORDER BY id DESC LIMIT ${limit + 1})
    SELECT total, audit.* FROM (SELECT count(*) AS total FROM matching) AS counted
    LEFT JOIN (page JOIN audit ON audit.audit_id = page.id) ON true ORDER BY page.id DESC`;
  return { text, values: values.all };
}

function conditionsOf(filters: AuditFilters, values: Values): string[] {
  const { actor, action, agentId, fromMs, beforeMs, q } = filters;
  const conditions = ['true'];
  if (agentId !== undefined) {
    const agent = values.put(agentId, 'text');
    // The target of deletes of several agents' events is empty; their detail has the IDs of the agents.
    conditions.push(
      `${AGENT} IN (${agent}, '') AND (${AGENT} = ${agent} OR strpos(detail, '"' || ${agent} || '"') > 0)`,
    );
  }
  if (action !== undefined) conditions.push(`action = ${values.put(action, 'text')}`);
  if (fromMs !== undefined) conditions.push(`at_ms >= ${values.put(fromMs, 'bigint')}`);
  if (beforeMs !== undefined) conditions.push(`at_ms < ${values.put(beforeMs, 'bigint')}`);
  if (actor !== undefined) {
    const [subject, email] = [values.put(actor.subject, 'text'), values.put(actor.email, 'text')];
    conditions.push(`(actor_subject = ${subject} OR lower(actor_email COLLATE "C") = ${email})`);
  }
  if (q !== undefined) {
    const texts = ['target_name', 'target', 'actor_email', ...(CAN_BE_ID.test(q) ? ['detail'] : [])];
    conditions.push(`(${isFound(texts, q, values)} OR ${isFoundInTitles(q, values)})`);
  }
  return conditions;
}

/** Titles are a JSON list. A look at the whole text rules most entries out. */
function isFoundInTitles(q: string, values: Values): string {
  const isInOne = `EXISTS (SELECT 1 FROM json_array_elements_text(titles::json) AS title WHERE ${isFound(['title'], q, values)})`;
  const mayHave = ESCAPED_IN_JSON.test(q)
    ? 'titles IS NOT NULL'
    : isFound(["coalesce(titles, '')"], q, values);
  return `CASE WHEN ${mayHave} THEN ${isInOne} ELSE false END`;
}
