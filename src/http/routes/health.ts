// The health endpoint. It also responds while the service starts and all other routes are refused.
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { AppError } from '../../domain/errors.ts';
import { oneOf } from '../../domain/shape.ts';
import type { Store } from '../../domain/store.ts';
import type { Context } from '../../usecases/context.ts';
import type { Description } from '../endpoint.ts';
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

export async function sendHealth(
  readiness: Readiness,
  version: string,
  reply: FastifyReply,
  onFault: (error: AppError) => void,
): Promise<FastifyReply> {
  reply.header('content-type', 'application/json; charset=utf-8');
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
  return new AppError('UNAVAILABLE', `The service is starting${progress}. Retry shortly.`);
}

function sendUnavailable(reply: FastifyReply, error: AppError, extra: object): FastifyReply {
  return reply
    .code(statusOf(error))
    .header('retry-after', '1')
    .send(JSON.stringify({ ...errorBody(error), ...extra }));
}
