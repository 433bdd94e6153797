// The pages of a consent as HTML: the question, the key of a new agent, and problems. Text of clients and agents is only ever text.
import type { FastifyReply } from 'fastify';
import type { AuthorizationRequest } from '../../oauth/authorization.ts';
import type { Asked, OwnedAgent } from '../../oauth/consent.ts';
import { destinationOf, formActionOf } from '../../oauth/redirect-uri.ts';
import { escapeHtml } from '../guide/html.ts';
import { PAGE_HEADERS, readPage } from './page-files.ts';

export type Form = ReadonlyMap<string, string>;

/** What the person has typed and must correct, by field. */
export type Problems = Readonly<Record<string, string>>;

export interface Answer {
  readonly form: Form;
  readonly problems: Problems;
}

const FIELDS = ['scope', 'agent', 'email', 'agent_name', 'key'];

/** The request with the form, and what is wrong with an earlier answer. The key is never shown again. */
export function questionPage(
  { request }: Asked,
  sealed: string,
  known: OwnedAgent | undefined,
  { form, problems }: Answer,
): string {
  const chosen = form.get('agent') ?? (known ? 'known' : 'new');
  const checked = (isChecked: boolean) => (isChecked ? ' checked' : '');
  const shownProblems = FIELDS.map((name) => [
    `PROBLEM_${name.toUpperCase()}`,
    escapeHtml(problems[name] ?? ''),
  ]);
  return readPage('consent.html', {
    ...Object.fromEntries(shownProblems),
    DESTINATION: describeDestination(request),
    CAN_PUBLISH: request.scopes.includes('publish') ? '' : ' hidden',
    CHECKED_READ: checked(form.get('scope') === 'read'),
    CHECKED_PUBLISH: checked(form.get('scope') === 'publish'),
    CHECKED_KNOWN: checked(chosen === 'known'),
    CHECKED_NEW: checked(chosen === 'new'),
    CHECKED_OWN: checked(chosen === 'own'),
    HAS_KNOWN: known ? '' : ' hidden',
    KNOWN_NAME: known ? showText(known.agent.agent_name) : '',
    VALUE_EMAIL: escapeHtml(form.get('email') ?? ''),
    VALUE_NAME: escapeHtml(form.get('agent_name') ?? ''),
    SEALED: sealed,
  });
}

/** The key of a new agent, if it has not been shown before, and the button that goes on to the client. */
export function keyPage(
  { request }: Asked,
  sealed: string,
  { agent, apiKey }: OwnedAgent & { readonly apiKey: string | undefined },
): string {
  return readPage('consent-key.html', {
    AGENT_NAME: showText(agent.agent_name),
    HAS_KEY: apiKey === undefined ? ' hidden' : '',
    LACKS_KEY: apiKey === undefined ? '' : ' hidden',
    API_KEY: escapeHtml(apiKey ?? ''),
    DESTINATION: describeDestination(request),
    SEALED: sealed,
  });
}

/** Why nothing was connected; with a link to the client, if there is one. */
export function problemPage(message: string, wayBack?: string): string {
  const destination = wayBack === undefined ? undefined : destinationOf(wayBack);
  const where = destination && 'host' in destination ? destination.host : 'the app';
  return readPage('consent-problem.html', {
    MESSAGE: escapeHtml(message),
    WAY_BACK:
      wayBack === undefined
        ? ''
        : `<p><a class="button" href="${escapeHtml(wayBack)}">Back to ${escapeHtml(where)}</a></p>`,
  });
}

/** The policy allows the form to lead to the client: browsers apply `form-action` to redirects, too. Clients may open us in a popup. */
export function sendPage(reply: FastifyReply, page: string, request?: AuthorizationRequest): FastifyReply {
  const source = request ? ` ${formActionOf(request.redirectUri)}` : '';
  const policy = PAGE_HEADERS['content-security-policy'].replace(
    "form-action 'self'",
    `form-action 'self'${source}`,
  );
  return reply
    .headers({
      ...PAGE_HEADERS,
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'unsafe-none',
      'content-type': 'text/html; charset=utf-8',
    })
    .send(page);
}

/** Who gets the access: above all the host, which nobody can make up; the name is what the client calls itself. */
function describeDestination({ clientName, clientHost, redirectUri }: AuthorizationRequest): string {
  const destination = destinationOf(redirectUri);
  const [where, note] = {
    site: ['host' in destination ? destination.host : '', 'The access goes to this web site.'],
    computer: ['A program on this computer', 'Continue only if you have just started to connect one.'],
    app: [
      'scheme' in destination ? `An app: ${destination.scheme}` : '',
      'Continue only if you have just started to connect this app.',
    ],
  }[destination.kind] as [string, string];
  const other =
    clientHost !== undefined && clientHost !== where
      ? `, as described at <strong>${escapeHtml(clientHost)}</strong>`
      : '';
  const name =
    clientName === undefined ? 'It gives no name' : `It calls itself “<bdi>${showText(clientName)}</bdi>”`;
  return `<p class="host">${escapeHtml(where)}</p><p class="hint">${name}${other}. ${note}</p>`;
}

const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Text that somebody else wrote: invisible characters become visible. */
function showText(text: string): string {
  return escapeHtml(text.replaceAll(INVISIBLE, '�'));
}
