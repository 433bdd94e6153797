// The page on which a person decides what a client may do: shows the request, reads the form, and redirects back to the client. It works
// without scripts. What a decision does is in oauth/consent.ts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readRegistration } from '../../domain/agent.ts';
import { AppError } from '../../domain/errors.ts';
import {
  type AuthorizationRequest,
  RedirectedError,
  readAuthorization,
  refusal,
} from '../../oauth/authorization.ts';
import {
  type Asked,
  allowedScopes,
  findOwnedAgent,
  findRemembered,
  giveConsent,
  newAsked,
  type OwnedAgent,
  openAsked,
  registerOnce,
  remember,
  sealAsked,
} from '../../oauth/consent.ts';
import { AUTHORIZE_PATH } from '../../oauth/metadata.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { destinationOf, formActionOf } from '../../oauth/redirect-uri.ts';
import type { Context } from '../../usecases/context.ts';
import { clientNetwork } from '../access/client-network.ts';
import { clearCookie, readCookie, setCookie } from '../access/cookies.ts';
import { isSameOrigin, serviceOrigin } from '../access/same-origin.ts';
import { escapeHtml } from '../guide/html.ts';
import { parseForm } from '../request/body.ts';
import { statusOf } from '../response/errors.ts';
import { asksForHtml } from './front.ts';
import { PAGE_HEADERS, readPage } from './page-files.ts';

export interface ConsentOptions {
  readonly publicUrl?: string | undefined;
  readonly context: () => Context;
  /** Counts an error, and logs it if it is the service's fault. Returns it as clients see it. */
  noteError(request: FastifyRequest, error: unknown): AppError;
}

/** The largest form has a state as long as a URL may be, escaped and sealed. */
const MAX_FORM_BYTES = 32_768;

type Form = ReadonlyMap<string, string>;

export function serveConsent(app: FastifyInstance, options: ConsentOptions): void {
  app.register((pages, _options, done) => {
    pages.setErrorHandler((error, request, reply) => {
      if (error instanceof RedirectedError && mayRedirect(error, request))
        return reply.redirect(error.location, 303);
      return sendProblem(options, request, reply, error);
    });
    pages.get(AUTHORIZE_PATH, { exposeHeadRoute: false }, (request, reply) => ask(options, request, reply));
    pages.post(AUTHORIZE_PATH, { bodyLimit: MAX_FORM_BYTES }, (request, reply) =>
      decide(options, request, reply),
    );
    done();
  });
}

async function ask(
  options: ConsentOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const context = options.context();
  const parameters = parseForm(request.query as string, 'query');
  const asked = await readAuthorization(
    context,
    baseOf(options, request),
    parameters,
    clientNetwork(request.ip),
  );
  return sendQuestion(options, reply, newAsked(context, asked));
}

async function decide(
  options: ConsentOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (!isSameOrigin(options.publicUrl, request)) {
    throw new OAuthError('invalid_request', 'This form was not sent by our own page.', 403);
  }
  const context = options.context();
  const form = (request.body ?? new Map()) as Form;
  const asked = await openAsked(context, form.get('page') ?? '');
  const action = form.get('action');
  if (action === 'deny') {
    const location = refusal(baseOf(options, request), asked.request, 'access_denied', 'The person refused.');
    return reply.redirect(location, 303);
  }
  if (action === 'forget') {
    clearCookie(options.publicUrl, reply, 'agent');
    return sendQuestion(options, reply, asked, { form: new Map(), problems: {}, forgotten: true });
  }
  if (asked.decided) {
    const { keyHash, scopes } = asked.decided;
    const agent = await context.store.findAgentByKey(keyHash, context.clock());
    if (agent) return finish(options, reply, asked, { agent, keyHash }, scopes);
    throw new OAuthError('access_denied', 'The key of this agent has ended meanwhile.');
  }
  return decideForAgent(options, reply, asked, form);
}

/** What the person has typed and must correct, by field. */
type Problems = Readonly<Record<string, string>>;

async function decideForAgent(
  options: ConsentOptions,
  reply: FastifyReply,
  asked: Asked,
  form: Form,
): Promise<FastifyReply> {
  const { request } = reply;
  const context = options.context();
  const network = clientNetwork(request.ip);
  const choice = form.get('scope');
  const again = (problems: Problems, fresh = asked) =>
    sendQuestion(options, reply.code(422), fresh, { form, problems });
  const scopeProblem: Problems =
    choice === 'read' || (choice === 'publish' && asked.request.scopes.includes('publish'))
      ? {}
      : { scope: 'Choose what it may do.' };
  const scopes = allowedScopes(asked.request, choice === 'publish' ? 'publish' : 'read');
  const hasChoice = scopeProblem.scope === undefined;
  switch (form.get('agent')) {
    case 'known': {
      const known = await findRemembered(context, readCookie(options.publicUrl, request, 'agent'));
      if (!known) return again({ ...scopeProblem, agent: 'Its key has ended. Choose the agent again.' });
      return hasChoice ? finish(options, reply, asked, known, scopes) : again(scopeProblem);
    }
    case 'own': {
      const key = (form.get('key') ?? '').trim();
      const found = await findOwnedAgent(context, network, key).catch(keyProblem);
      if (typeof found === 'string') return again({ ...scopeProblem, key: found });
      return hasChoice ? finish(options, reply, asked, found, scopes) : again(scopeProblem);
    }
    case 'new': {
      const fields = readFields(form);
      if ('problems' in fields || !hasChoice) {
        return again({ ...scopeProblem, ...('problems' in fields ? fields.problems : {}) });
      }
      const registered = await registerOnce(context, network, asked, fields);
      if (!registered)
        return again(
          { agent: 'The agent could not be registered. Try again.' },
          newAsked(context, asked.request),
        );
      return sendKey(
        options,
        reply,
        { ...asked, decided: { keyHash: registered.keyHash, scopes } },
        registered,
      );
    }
    default:
      return again({ ...scopeProblem, agent: 'Choose an agent.' });
  }
}

/** What to say about a key that is not accepted. */
function keyProblem(error: unknown): string {
  if (error instanceof AppError && error.code === 'MISSING_API_KEY') return 'Enter the key of your agent.';
  if (error instanceof AppError && statusOf(error) === 401) return error.message;
  throw error;
}

function readFields(form: Form): { email: string; agent_name: string } | { problems: Problems } {
  const given = { email: form.get('email')?.trim() ?? '', agent_name: form.get('agent_name')?.trim() ?? '' };
  try {
    return readRegistration(given);
  } catch (error) {
    if (!(error instanceof AppError) || !error.issues) throw error;
    return { problems: Object.fromEntries(error.issues.map(({ loc, msg }) => [loc.at(-1), `It ${msg}.`])) };
  }
}

async function finish(
  options: ConsentOptions,
  reply: FastifyReply,
  { request }: Asked,
  owned: OwnedAgent,
  scopes: Asked['request']['scopes'],
): Promise<FastifyReply> {
  const context = options.context();
  const location = await giveConsent(context, baseOf(options, reply.request), request, owned, scopes);
  await rememberAgent(options, reply, owned);
  return reply.redirect(location, 303);
}

async function rememberAgent(options: ConsentOptions, reply: FastifyReply, owned: OwnedAgent): Promise<void> {
  const { sealed, maxAgeMs } = await remember(options.context(), owned);
  setCookie(options.publicUrl, reply, 'agent', sealed, maxAgeMs);
}

function baseOf({ publicUrl }: ConsentOptions, request: FastifyRequest): string {
  const origin = serviceOrigin(publicUrl, request);
  if (origin === undefined) throw new AppError('BAD_REQUEST', 'The Host header is not valid.');
  return origin;
}

interface Answer {
  readonly form: Form;
  readonly problems: Problems;
  /** Whether the cookie has just been cleared. */
  readonly forgotten?: boolean;
}

/** Shows the request with the form, and what is wrong with an earlier answer. The key is never shown again. */
async function sendQuestion(
  options: ConsentOptions,
  reply: FastifyReply,
  asked: Asked,
  { form, problems, forgotten }: Answer = { form: new Map(), problems: {} },
): Promise<FastifyReply> {
  const context = options.context();
  const cookie = forgotten ? undefined : readCookie(options.publicUrl, reply.request, 'agent');
  const known = await findRemembered(context, cookie);
  const chosen = form.get('agent') ?? (known ? 'known' : 'new');
  const checked = (isChecked: boolean) => (isChecked ? ' checked' : '');
  const values: Record<string, string> = {};
  for (const name of ['scope', 'agent', 'email', 'agent_name', 'key'])
    values[`PROBLEM_${name.toUpperCase()}`] = escapeHtml(problems[name] ?? '');
  const page = readPage('consent.html', {
    ...values,
    DESTINATION: describeDestination(asked.request),
    CAN_PUBLISH: asked.request.scopes.includes('publish') ? '' : ' hidden',
    CHECKED_READ: checked(form.get('scope') === 'read'),
    CHECKED_PUBLISH: checked(form.get('scope') === 'publish'),
    CHECKED_KNOWN: checked(chosen === 'known'),
    CHECKED_NEW: checked(chosen === 'new'),
    CHECKED_OWN: checked(chosen === 'own'),
    HAS_KNOWN: known ? '' : ' hidden',
    KNOWN_NAME: known ? showText(known.agent.agent_name) : '',
    VALUE_EMAIL: escapeHtml(form.get('email') ?? ''),
    VALUE_NAME: escapeHtml(form.get('agent_name') ?? ''),
    SEALED: await sealAsked(context, asked),
  });
  return sendPage(reply, page, asked.request);
}

/** Shows the key of a new agent, once, and the button that goes on to the client. */
async function sendKey(
  options: ConsentOptions,
  reply: FastifyReply,
  asked: Asked,
  { apiKey, ...owned }: OwnedAgent & { readonly apiKey: string | undefined },
): Promise<FastifyReply> {
  await rememberAgent(options, reply, owned);
  const page = readPage('consent-key.html', {
    AGENT_NAME: showText(owned.agent.agent_name),
    HAS_KEY: apiKey === undefined ? ' hidden' : '',
    LACKS_KEY: apiKey === undefined ? '' : ' hidden',
    API_KEY: escapeHtml(apiKey ?? ''),
    DESTINATION: describeDestination(asked.request),
    SEALED: await sealAsked(options.context(), asked),
  });
  return sendPage(reply, page, asked.request);
}

function sendProblem(
  options: ConsentOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  if (error instanceof RedirectedError) return sendWayBack(reply, error);
  const shown = error instanceof OAuthError ? error : options.noteError(request, error);
  const status = shown instanceof OAuthError ? Math.min(shown.status, 403) : statusOf(shown);
  if (shown instanceof AppError && shown.retryAfterSeconds !== undefined)
    reply.header('retry-after', String(shown.retryAfterSeconds));
  const page = readPage('consent-problem.html', { MESSAGE: escapeHtml(shown.message), WAY_BACK: '' });
  return sendPage(reply.code(status), page);
}

/** Anybody can register a client, so links to this service must not lead a person elsewhere unseen (RFC 9700, 4.11.2). */
function mayRedirect({ location }: RedirectedError, { headers }: FastifyRequest): boolean {
  return destinationOf(location).kind === 'computer' || !asksForHtml(headers.accept);
}

function sendWayBack(reply: FastifyReply, { message, location }: RedirectedError): FastifyReply {
  const destination = destinationOf(location);
  const where = 'host' in destination ? destination.host : 'the app';
  const page = readPage('consent-problem.html', {
    MESSAGE: escapeHtml(message),
    WAY_BACK: `<p><a class="button" href="${escapeHtml(location)}">Back to ${escapeHtml(where)}</a></p>`,
  });
  return sendPage(reply.code(400), page);
}

/** The policy allows the form to lead to the client: browsers apply `form-action` to redirects, too. Clients may open us in a popup. */
function sendPage(reply: FastifyReply, page: string, request?: AuthorizationRequest): FastifyReply {
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
