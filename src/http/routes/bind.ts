// Adds an endpoint to the server. Before the body is read, checks the caller and parses the query. Then the endpoint handles the call, in
// a queue if it needs one.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Identity } from '../../domain/administration/admin.ts';
import { authenticate, countFailedRegistration } from '../access/authenticate.ts';
import type { Admission } from '../admission/admission.ts';
import type { WorkQueue } from '../admission/work-queue.ts';
import { MAX_BODY_BYTES, unknownFields } from '../request/body.ts';
import { isStrict, refuseUnknown } from '../request/preferences.ts';
import { ParameterNames, parseQuery, type Query } from '../request/query.ts';
import { addHeader } from '../response/headers.ts';
import { sendResponse } from '../response/send.ts';
import {
  type Call,
  type Endpoint,
  namedFieldsOf,
  parametersOf,
  type Route,
  type Service,
} from './endpoint.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Route pattern for the access log; undefined for routes that are not endpoints, such as /docs. */
    pattern: string | undefined;
    /** Set by the access check. */
    caller: unknown;
    /** Set after the access check. */
    parsedQuery: Query;
  }
}

export function bind(app: FastifyInstance, [method, path, endpoint]: Route, service: Service): void {
  const { admission, backlog, deadline, onFault } = service;
  const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const known = { parameters: parametersOf(endpoint), body: endpoint.body };
  const names = new ParameterNames(known.parameters);
  const fields = namedFieldsOf(endpoint);
  const isForAdministrators = endpoint.access === 'administrator';
  app.route({
    method,
    url: pattern,
    bodyLimit: endpoint.maxBodyBytes ?? MAX_BODY_BYTES,
    onRequest: (request, reply, done) => {
      request.pattern = pattern;
      const admit = () => authenticate(service, endpoint, reply);
      const admitting = isForAdministrators ? admit() : admission.checkKey(request, admit);
      deadline.watch(reply);
      const prepare = (caller: unknown): Error | undefined => {
        request.caller = caller;
        try {
          if (!isForAdministrators) backlog.requireRoom(request.client);
          const query = parseQuery(request.query as string, names);
          request.isStrict = isStrict(request.headers.prefer);
          if (request.isStrict) addHeader(reply, 'preference-applied', 'handling=strict');
          else if (query.unknown !== undefined) addHeader(reply, 'x-unknown-parameters', query.unknown);
          request.parsedQuery = query;
          return undefined;
        } catch (error) {
          return error as Error;
        }
      };
      const proceed = (error: Error | undefined) => {
        if (!request.client.isLate) done(error);
      };
      admitting.then((caller) => proceed(prepare(caller)), proceed);
    },
    handler: async (request, reply) => {
      const { client } = request;
      const isPrefix = endpoint.searchesPrefix?.(request.parsedQuery) === true;
      const call = callOf(request, service, isPrefix);
      if (call.isStrict) refuseUnknown(call, known, () => endpoint.read?.(call));
      const unknown = call.isStrict ? undefined : fields && unknownFields(request.body, fields);
      if (unknown !== undefined) addHeader(reply, 'x-unknown-fields', unknown);
      const queue = isPrefix ? admission.prefixSearches : queueOf(admission, endpoint, call);
      const name = isForAdministrators ? (call.caller as Identity).subject : client.name;
      const handle = () => endpoint.handle(call, endpoint.read?.(call));
      const response = await (queue ? queue.run(client, handle, name) : handle());
      if (client.isLate) return reply;
      const sending = sendResponse(reply, response, backlog, (error) => onFault(request, error));
      if (sending) await sending;
      return reply;
    },
    ...(endpoint.access === 'registration' && {
      onSend: (request, reply) => countFailedRegistration(service, request, reply),
    }),
  });
}

/** A search for a prefix waits in the queue of prefix searches, so its expensive part waits in `agentWork`; other calls wait only once. */
function callOf(request: FastifyRequest, { context, admission }: Service, isPrefix: boolean): Call<never> {
  const { client } = request;
  return {
    context: context(),
    caller: request.caller as never,
    path: request.params as Record<string, string>,
    query: request.parsedQuery,
    headers: request.headers,
    body: request.body,
    client,
    isStrict: request.isStrict,
    expensively: isPrefix ? (part) => admission.agentWork.run(client, part) : (part) => part(),
  };
}

function queueOf(admission: Admission, endpoint: Endpoint, call: Call<never>): WorkQueue | undefined {
  if (!endpoint.isExpensive?.(call)) return admission.databaseWork;
  return endpoint.access === 'administrator' ? admission.adminWork : admission.agentWork;
}
