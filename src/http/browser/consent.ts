// The page on which a person decides what a client may do: shows the request, reads the form, and redirects back to the client. It works
// without scripts. The pages are in consent-pages.ts; what a decision does is in oauth/consent.ts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readRegistration } from '../../domain/agent.ts';
import { AppError } from '../../domain/errors.ts';
import { RedirectedError, readAuthorization, refusal } from '../../oauth/authorization.ts';
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
import { destinationOf } from '../../oauth/redirect-uri.ts';
import type { Context } from '../../usecases/context.ts';
import { clientNetwork } from '../access/client-network.ts';
import { clearCookie, readCookie, setCookie } from '../access/cookies.ts';
import { isSameOrigin, requireServiceOrigin } from '../access/same-origin.ts';
import { parseForm } from '../request/body.ts';
import { statusOf } from '../response/errors.ts';
import {
  type Answer,
  type Form,
  keyPage,
  type Problems,
  problemPage,
  questionPage,
  sendPage,
} from './consent-pages.ts';
import { asksForHtml } from './front.ts';

export interface ConsentOptions {
  readonly publicUrl?: string | undefined;
  readonly context: () => Context;
  /** Counts an error, and logs it if it is the service's fault. Returns it as clients see it. */
  noteError(request: FastifyRequest, error: unknown): AppError;
}

/** The largest form has a state as long as a URL may be, escaped and sealed. */
const MAX_FORM_BYTES = 32_768;

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
    requireServiceOrigin(options.publicUrl, request),
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
    const location = refusal(
      requireServiceOrigin(options.publicUrl, request),
      asked.request,
      'access_denied',
      'The person refused.',
    );
    return reply.redirect(location, 303);
  }
  if (action === 'forget') {
    clearCookie(options.publicUrl, reply, 'agent');
    return sendQuestion(options, reply, asked, undefined, true);
  }
  if (asked.decided) {
    const { keyHash, scopes } = asked.decided;
    const agent = await context.store.findAgentByKey(keyHash, context.clock());
    if (agent) return finish(options, reply, asked, { agent, keyHash }, scopes);
    throw new OAuthError('access_denied', 'The key of this agent has ended meanwhile.');
  }
  return decideForAgent(options, reply, asked, form);
}

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
  const location = await giveConsent(
    context,
    requireServiceOrigin(options.publicUrl, reply.request),
    request,
    owned,
    scopes,
  );
  await rememberAgent(options, reply, owned);
  return reply.redirect(location, 303);
}

async function rememberAgent(options: ConsentOptions, reply: FastifyReply, owned: OwnedAgent): Promise<void> {
  const { sealed, maxAgeMs } = await remember(options.context(), owned);
  setCookie(options.publicUrl, reply, 'agent', sealed, maxAgeMs);
}

/** `forgotten`: the cookie has just been cleared. */
async function sendQuestion(
  options: ConsentOptions,
  reply: FastifyReply,
  asked: Asked,
  answer: Answer = { form: new Map(), problems: {} },
  forgotten = false,
): Promise<FastifyReply> {
  const context = options.context();
  const cookie = forgotten ? undefined : readCookie(options.publicUrl, reply.request, 'agent');
  const known = await findRemembered(context, cookie);
  const page = questionPage(asked, await sealAsked(context, asked), known, answer);
  return sendPage(reply, page, asked.request);
}

async function sendKey(
  options: ConsentOptions,
  reply: FastifyReply,
  asked: Asked,
  registered: OwnedAgent & { readonly apiKey: string | undefined },
): Promise<FastifyReply> {
  await rememberAgent(options, reply, registered);
  const page = keyPage(asked, await sealAsked(options.context(), asked), registered);
  return sendPage(reply, page, asked.request);
}

/** Anybody can register a client, so links to this service must not lead a person elsewhere unseen (RFC 9700, 4.11.2). */
function mayRedirect({ location }: RedirectedError, { headers }: FastifyRequest): boolean {
  return destinationOf(location).kind === 'computer' || !asksForHtml(headers.accept);
}

function sendProblem(
  options: ConsentOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  if (error instanceof RedirectedError)
    return sendPage(reply.code(400), problemPage(error.message, error.location));
  const shown = error instanceof OAuthError ? error : options.noteError(request, error);
  const status = shown instanceof OAuthError ? Math.min(shown.status, 403) : statusOf(shown);
  if (shown instanceof AppError && shown.retryAfterSeconds !== undefined)
    reply.header('retry-after', String(shown.retryAfterSeconds));
  return sendPage(reply.code(status), problemPage(shown.message));
}
