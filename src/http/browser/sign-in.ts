// Signing in to the console and out of it, beside its pages: the way to the identity provider and back, sessions, and the
// picture of who is signed in. What of it is a rule is in usecases/sessions.ts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError, refuse } from '../../domain/errors.ts';
import { toReturnPath } from '../../domain/return-path.ts';
import { SIGN_IN_MS, type SignInProblem } from '../../domain/session.ts';
import { compile } from '../../domain/shape.ts';
import type { Context } from '../../usecases/context.ts';
import * as sessions from '../../usecases/sessions.ts';
import { requireSameOrigin } from '../request/authenticate.ts';
import { clientNetwork } from '../request/client-network.ts';
import { clearCookie, readCookie, setCookie } from './cookies.ts';
import { isSameOrigin, serviceOrigin } from './same-origin.ts';

export interface SignInRoutes {
  readonly publicUrl: string | undefined;
  /** Called only when the service is ready. */
  readonly context: () => Context;
  /** Told of what is wrong with the provider. */
  readonly onFault: (request: FastifyRequest, error: AppError) => void;
}

const SESSION = '/admin/session';
const LOGIN = '/admin/login';
const CALLBACK = '/admin/callback';
const PICTURE = '/admin/picture';
const TOKEN = '/admin/token';
const LOGOUT = '/admin/logout';

/** What each of the addresses beside the console's pages answers. */
export const SIGN_IN_METHODS: ReadonlyMap<string, string> = new Map([
  ...[SESSION, LOGIN, CALLBACK, PICTURE].map((path) => [path, 'GET'] as const),
  ...[TOKEN, LOGOUT].map((path) => [path, 'POST'] as const),
]);

const MAX_TOKEN_BODY_BYTES = 16_384;

const checkTokenBody = compile(Type.Object({ token: Type.String({ minLength: 1 }) }));

/** Each answers its own method alone: none of them is to be asked for by a mere HEAD. */
export function serveSignIn(app: FastifyInstance, options: SignInRoutes): void {
  const { publicUrl, context } = options;
  const alone = { exposeHeadRoute: false };
  /** As far as it counts: a page of another site learns nothing. */
  const readSessionCookie = (request: FastifyRequest) =>
    isSameOrigin(publicUrl, request) ? readCookie(publicUrl, request, 'session') : undefined;

  app.get(SESSION, alone, async (request, reply) => {
    const described = await sessions.describeSession(context(), readSessionCookie(request), PICTURE);
    return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(described));
  });
  app.get(LOGIN, alone, (request, reply) => begin(options, request, reply));
  app.get(CALLBACK, alone, (request, reply) => finish(options, request, reply));
  app.get(PICTURE, alone, async (request, reply) => {
    const { type, bytes } = await sessions.getPicture(context(), readSessionCookie(request));
    return reply
      .header('content-type', type)
      .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'; sandbox")
      .send(bytes);
  });

  const checkOrigin = (request: FastifyRequest, _reply: unknown, done: () => void) => {
    requireSameOrigin(publicUrl, request);
    done();
  };
  const checkTokenForm = (request: FastifyRequest, _reply: unknown, done: () => void) => {
    sessions.requireTokenSessions(context());
    if (!isSameOrigin(publicUrl, request)) {
      throw new AppError('INVALID_TOKEN', 'A token opens a session only where it is typed into the console.');
    }
    done();
  };
  app.post(TOKEN, { bodyLimit: MAX_TOKEN_BODY_BYTES, onRequest: checkTokenForm }, async (request, reply) => {
    const { value, issues } = checkTokenBody(request.body, 'body');
    refuse(issues);
    keepSession(options, reply, await sessions.openTokenSession(context(), value.token.trim()));
    return reply.code(204).send();
  });
  app.post(LOGOUT, { onRequest: checkOrigin }, async (request, reply) => {
    await sessions.endSession(context(), readCookie(publicUrl, request, 'session'));
    clearCookie(publicUrl, reply, 'session');
    return reply.code(204).send();
  });
}

/** Sends people to the provider, or, where that is not possible, back to the console with the reason. */
async function begin(
  { publicUrl, context, onFault }: SignInRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { signIn } = context().console;
  const query = new URLSearchParams(request.query as string);
  const returnPath = toReturnPath(query.get('return') ?? undefined);
  const chooseAccount = query.get('account') === 'choose';
  if (!signIn) return reply.redirect(returnPath, 303);
  const origin = serviceOrigin(publicUrl, request);
  if (origin === undefined) throw new AppError('BAD_REQUEST', 'The request names no host to come back to.');
  // Under another name the cookie would be missing when the provider sends people back. A proxy may hide the name they
  // used, so they are sent on once only.
  if (!isHostOf(origin, request.host) && !query.has('here')) {
    const there = new URLSearchParams({ return: returnPath, here: '1' });
    if (chooseAccount) there.set('account', 'choose');
    return reply.redirect(`${origin}${LOGIN}?${there}`, 302);
  }
  try {
    const redirectUri = origin + CALLBACK;
    const { address, sealed } = await signIn.begin({ redirectUri, returnPath, chooseAccount });
    setCookie(publicUrl, reply, 'signIn', sealed, SIGN_IN_MS);
    return reply.redirect(address, 302);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'UNAVAILABLE') throw error;
    onFault(request, error);
    return explain(reply, 'provider', returnPath);
  }
}

/** Signs in who comes back from the provider, or sends them to the console with the reason why not. */
async function finish(
  options: SignInRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { publicUrl, context, onFault } = options;
  const { signIn } = context().console;
  if (!signIn) return reply.redirect(toReturnPath(undefined), 303);
  clearCookie(publicUrl, reply, 'signIn');
  const begun = readCookie(publicUrl, request, 'signIn');
  if (begun !== undefined && !(await sessions.spendSignIn(context(), clientNetwork(request.ip)))) {
    return explain(reply, 'often', toReturnPath(undefined));
  }
  const outcome = await signIn.finish(request.query as string, begun);
  const returnPath = toReturnPath(outcome.returnPath);
  if (outcome.kind === 'failed') {
    if (outcome.cause) onFault(request, providerFault(outcome.cause));
    return explain(reply, outcome.problem, returnPath);
  }
  const opened = await sessions.openSession(context(), outcome.identity);
  if (!opened) {
    onFault(request, providerFault(new Error('its claims are too long for a session')));
    return explain(reply, 'provider', returnPath);
  }
  keepSession(options, reply, opened);
  return reply.redirect(returnPath, 303);
}

function keepSession(
  { publicUrl, context }: SignInRoutes,
  reply: FastifyReply,
  { sealed, expiresMs }: sessions.OpenedSession,
): void {
  setCookie(publicUrl, reply, 'session', sealed, expiresMs - context().clock());
}

function isHostOf(origin: string, host: string): boolean {
  const { protocol, host: own } = new URL(origin);
  return URL.parse(`${protocol}//${host}`)?.host === own;
}

/** Nothing that the provider or the address said is repeated. */
function explain(reply: FastifyReply, problem: SignInProblem, returnPath: string): FastifyReply {
  return reply.redirect(`/admin/?${new URLSearchParams({ problem, return: returnPath })}`, 303);
}

function providerFault(cause: Error): AppError {
  const message = 'Nobody could be signed in: the provider does not answer, or its answer does not hold.';
  return new AppError('UNAVAILABLE', message, { cause });
}
