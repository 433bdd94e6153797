// The client of a request: its network and, once its key was checked, its agent.
import type { Socket } from 'node:net';
import type { AppError } from '../../domain/errors.ts';
import type { Client } from './work-queue.ts';

/** Stands for trusted proxies themselves: they speak for many clients, so no limit per network applies to them. */
export const UNLIMITED = 'proxy';

declare module 'fastify' {
  interface FastifyRequest {
    client: RequestClient;
  }
}

/** The network for limits that the store keeps; undefined for a trusted proxy itself. */
export function findNetwork({ network }: Client): string | undefined {
  return network === UNLIMITED ? undefined : network;
}

export class RequestClient implements Client {
  readonly network: string;
  name = '';
  /** Bytes of its body that are being received. */
  bodyBytes = 0;
  /** Why the connection of this request was refused, if it was. */
  readonly refusal: AppError | undefined;
  readonly #socket: Socket;
  readonly #onEnd: (() => void)[] = [];
  #hasEnded = false;

  constructor(network: string, socket: Socket, refusal: AppError | undefined) {
    this.network = network;
    this.refusal = refusal;
    this.#socket = socket;
  }

  isGone(): boolean {
    return this.#socket.destroyed;
  }

  /** Calls back when the response was sent or the connection is closed; at once if that has happened. */
  onEnd(callback: () => void): void {
    if (this.#hasEnded) callback();
    else this.#onEnd.push(callback);
  }

  end(): void {
    this.#hasEnded = true;
    for (const callback of this.#onEnd) callback();
  }
}
