// SQL of the filtered audit log. One statement returns a page and its exact total, from one snapshot. It needs the function
// is_found(…) of list-statements.ts on the connection.
import { type AuditFilters, CAN_BE_ID } from '../../domain/administration/audit-filters.ts';
import { type AuditQuery, ESCAPED_IN_JSON } from '../../domain/administration/list.ts';
import { isFound, type Statement } from './list-statements.ts';

/** As in the index audit_by_agent. */
const AGENT = "CASE WHEN json_valid(detail) THEN coalesce(detail ->> '$.agent_id', target) ELSE target END";

/** Rows consist of total and the columns of audit. If the page is empty, a single row has only the total. */
export function auditPageStatement({ after, limit, filters = {} }: AuditQuery): Statement {
  const values: (string | number)[] = [];
  const put = (value: string | number) => `?${values.push(value)}`;
  const conditions = conditionsOf(filters, put);
  const isAfter = after === undefined ? 'true' : `id < ${put(after)}`;
  // A search for text is expensive, so it runs once, for page and total.
  const text = `WITH matching AS ${filters.q === undefined ? 'NOT MATERIALIZED' : 'MATERIALIZED'} (
      SELECT audit_id AS id FROM audit ${indexFor(filters)} WHERE ${conditions.join(' AND ')}
    ),
    page AS (SELECT id FROM matching WHERE ${isAfter} ORDER BY id DESC LIMIT ${put(limit + 1)})
    SELECT total, audit.* FROM (SELECT (SELECT count(*) FROM matching) AS total)
    LEFT JOIN (page JOIN audit ON audit.audit_id = page.id) ON true ORDER BY page.id DESC`;
  return { text, values };
}

/** Without ANALYZE, SQLite would choose by rules of thumb. */
function indexFor({ q, agentId, ...others }: AuditFilters): string {
  if (agentId !== undefined) return 'INDEXED BY audit_by_agent';
  const isOnlyText = q !== undefined && Object.values(others).every((value) => value === undefined);
  return isOnlyText ? 'NOT INDEXED' : 'INDEXED BY audit_filters';
}

function conditionsOf(filters: AuditFilters, put: (value: string | number) => string): string[] {
  const { actor, action, agentId, fromMs, beforeMs, q } = filters;
  const conditions = ['true'];
  if (agentId !== undefined) {
    const agent = put(agentId);
    // The target of deletes of several agents' events is empty; their detail has the IDs of the agents.
    conditions.push(
      `${AGENT} IN (${agent}, '') AND (${AGENT} = ${agent} OR instr(detail, '"' || ${agent} || '"') > 0)`,
    );
  }
  if (action !== undefined) conditions.push(`action = ${put(action)}`);
  if (fromMs !== undefined) conditions.push(`at_ms >= ${put(fromMs)}`);
  if (beforeMs !== undefined) conditions.push(`at_ms < ${put(beforeMs)}`);
  if (actor !== undefined)
    conditions.push(`(actor_subject = ${put(actor.subject)} OR lower(actor_email) = ${put(actor.email)})`);
  if (q !== undefined) {
    const texts = ['target_name', 'target', 'actor_email', ...(CAN_BE_ID.test(q) ? ['detail'] : [])];
    conditions.push(`(${isFound(texts, q, put)} OR ${isFoundInTitles(q, put)})`);
  }
  return conditions;
}

/** Titles are a JSON list. A look at the whole text rules most entries out. */
function isFoundInTitles(q: string, put: (value: string) => string): string {
  const isInOne = `EXISTS (SELECT 1 FROM json_each(titles) AS title WHERE ${isFound(['title.value'], q, put)})`;
  const mayHave = ESCAPED_IN_JSON.test(q) ? 'titles IS NOT NULL' : isFound(["coalesce(titles, '')"], q, put);
  return `CASE WHEN ${mayHave} THEN ${isInOne} ELSE false END`;
}
