// Health of the service: /live (the process), /ready (it should get requests) and /health. They also respond while the service starts and
// all other routes are refused, and no limit refuses them.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, PARTS, type Part } from '../../domain/errors.ts';
import { stopping } from '../../domain/operations.ts';
import Type, { nameShapes } from '../../domain/schema.ts';
import { oneOf } from '../../domain/shape.ts';
import type { Store } from '../../domain/store.ts';
import type { Context } from '../../usecases/context.ts';
import type { Description } from '../guide/description.ts';
import { ErrorResponse, errorBody, statusOf, toAppError } from '../response/errors.ts';

/** While the store opens: events loaded so far, of the total. Afterwards: the context for use cases. */
export type Readiness = { readonly done: number; readonly total: number } | { readonly context: Context };

export const HealthResponse = Type.Object({
  status: oneOf(['ok'], { examples: ['ok'] }),
  version: Type.String({ examples: ['1.0.0'] }),
  engine: oneOf(['sqlite', 'postgres'], { examples: ['sqlite'] }),
});

export const HealthErrorResponse = Type.Object({
  ...ErrorResponse.properties,
  status: oneOf(['starting', 'unavailable']),
  progress: Type.Optional(
    Type.Object(
      { done: Type.Integer({ minimum: 0 }), total: Type.Integer({ minimum: 0 }) },
      { description: 'Number of events loaded so far and in total, while starting.' },
    ),
  ),
});

export const health: Description = {
  operationId: 'getHealth',
  tag: 'Service',
  summary: 'Check whether the service is up',
  description:
    'Returns 200 while the store responds. Otherwise returns 503 with `status` next to the error: `starting`, with `progress`, or `unavailable`.',
  response: HealthResponse,
  unavailable: HealthErrorResponse,
};

export const LiveResponse = Type.Object({ status: oneOf(['ok'], { examples: ['ok'] }) });

export const live: Description = {
  operationId: 'getLive',
  tag: 'Service',
  summary: 'Check whether the process runs',
  description: 'Returns 200 as long as the process can respond, also while it starts and stops.',
  response: LiveResponse,
};

export const ReadyResponse = Type.Object({ status: oneOf(['ready'], { examples: ['ready'] }) });

export const ReadyErrorResponse = Type.Object({
  ...ErrorResponse.properties,
  status: oneOf(['starting', 'loading', 'stopping', 'unavailable']),
  part: oneOf(PARTS, { description: 'What keeps the service from serving.' }),
});

nameShapes({ HealthResponse, HealthErrorResponse, LiveResponse, ReadyResponse, ReadyErrorResponse });

export const ready: Description = {
  operationId: 'getReady',
  tag: 'Service',
  summary: 'Check whether the service can serve',
  description:
    'Returns 200 while requests can be served: for load balancers. Otherwise returns 503 with `status` and `part` next to the error. It is not ready while it starts, and from the moment when it is told to stop. A node on PostgreSQL that is `loading` serves, but other nodes serve better: when it is ready, the next one can be restarted.',
  response: ReadyResponse,
  unavailable: ReadyErrorResponse,
};

/** Whether the service works, but other nodes should get the requests. */
export function isLoading(readiness: Readiness): boolean {
  return 'context' in readiness && readiness.context.store.isLoading;
}

interface HealthOptions {
  readonly version: string;
  readonly readiness: () => Readiness;
  readonly shutdown?: { readonly isStopping: boolean };
  readonly onFault: (request: FastifyRequest, error: AppError) => void;
}

export function serveHealth(app: FastifyInstance, options: HealthOptions): void {
  const { version, readiness, shutdown, onFault } = options;
  app.get('/health', (request, reply) =>
    sendHealth(readiness(), version, asJson(reply), (error) => onFault(request, error)),
  );
  app.get('/live', (_request, reply) => asJson(reply).send(JSON.stringify({ status: 'ok' })));
  app.get('/ready', async (request, reply) => {
    asJson(reply);
    if (shutdown?.isStopping) return sendUnready(reply, stopping(), 'stopping', 'shutdown');
    const now = readiness();
    if (!('context' in now)) return sendUnready(reply, starting(now), 'starting', 'startup');
    try {
      await checkOnce(now.context.store);
    } catch (error) {
      const fault = toAppError(error);
      onFault(request, fault);
      return sendUnready(reply, fault, 'unavailable', fault.part ?? 'store');
    }
    if (isLoading(now)) return sendUnready(reply, loading(), 'loading', 'memory');
    return reply.send(JSON.stringify({ status: 'ready' }));
  });
}

function asJson(reply: FastifyReply): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8');
}

async function sendHealth(
  readiness: Readiness,
  version: string,
  reply: FastifyReply,
  onFault: (error: AppError) => void,
): Promise<FastifyReply> {
  if (!('context' in readiness)) {
    const { done, total } = readiness;
    return sendUnavailable(reply, starting(readiness), { status: 'starting', progress: { done, total } });
  }
  const { store } = readiness.context;
  try {
    await checkOnce(store);
  } catch (error) {
    const fault = toAppError(error);
    onFault(fault);
    return sendUnavailable(reply, fault, { status: 'unavailable' });
  }
  return reply.send(JSON.stringify({ status: 'ok', version, engine: store.engine }));
}

const checks = new WeakMap<Store, Promise<void>>();

/** Requests that arrive during a check share it, so that many of them cost the store no more than one. */
function checkOnce(store: Store): Promise<void> {
  const running = checks.get(store);
  if (running) return running;
  const check = store.check().finally(() => checks.delete(store));
  checks.set(store, check);
  return check;
}

/** Error of every route while the service starts. */
export function starting({ done, total }: { done: number; total: number }): AppError {
  const progress = total > 0 ? `: ${done} of ${total} events are loaded` : '';
  return new AppError('UNAVAILABLE', `The service is starting${progress}. Retry shortly.`, {
    refusedBy: 'starting',
  });
}

function loading(): AppError {
  const message =
    'The node serves, but is still reading all events into memory. Send requests to other nodes, and keep these running.';
  return new AppError('UNAVAILABLE', message);
}

function sendUnready(reply: FastifyReply, error: AppError, status: string, part: Part): FastifyReply {
  return sendUnavailable(reply, error, { status, part });
}

function sendUnavailable(reply: FastifyReply, error: AppError, extra: object): FastifyReply {
  reply.request.refusal = error;
  return reply
    .code(statusOf(error))
    .header('retry-after', '1')
    .send(JSON.stringify({ ...errorBody(error), ...extra }));
}
