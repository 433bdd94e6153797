// Whose key it is, for every key, in memory: asked with each request. Whether its agent is active is left to the store.
import type { Rotated } from './threads/key-writes.ts';

interface KeyOwner {
  readonly agentId: string;
  /** Most keys never expire. */
  readonly expiresMs: number | undefined;
}

export class KeyOwners {
  readonly #keys = new Map<string, KeyOwner>();

  put(keyHash: string, agentId: string, expiresMs: number | undefined): void {
    this.#keys.set(keyHash, { agentId, expiresMs });
  }

  /** The identifier of the agent that holds the key, unless the key has expired. */
  findHolder(keyHash: string, nowMs: number): string | undefined {
    const key = this.#keys.get(keyHash);
    if (key === undefined || (key.expiresMs !== undefined && nowMs >= key.expiresMs)) return undefined;
    return key.agentId;
  }

  /** As a rotation left the keys of the agent. */
  rotate(agentId: string, callingKeyHash: string, newKeyHash: string, rotated: Rotated): void {
    this.put(callingKeyHash, agentId, rotated.callingExpiresMs);
    for (const keyHash of rotated.ended) this.remove(keyHash);
    this.put(newKeyHash, agentId, undefined);
  }

  remove(keyHash: string): void {
    this.#keys.delete(keyHash);
  }

  removeOf(agentId: string): void {
    for (const [keyHash, key] of this.#keys) {
      if (key.agentId === agentId) this.#keys.delete(keyHash);
    }
  }
}
