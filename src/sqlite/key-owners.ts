// Owner of each API key, in memory because every request needs it. The store checks whether the agent is active.
import type { Rotated } from './threads/key-writes.ts';

interface KeyOwner {
  readonly agentId: string;
  /** Undefined for keys that never expire: most of them. */
  readonly expiresMs: number | undefined;
}

export class KeyOwners {
  readonly #keys = new Map<string, KeyOwner>();

  put(keyHash: string, agentId: string, expiresMs: number | undefined): void {
    this.#keys.set(keyHash, { agentId, expiresMs });
  }

  /** ID of the agent that holds the key; undefined if the key is unknown or has expired. */
  findHolder(keyHash: string, nowMs: number): string | undefined {
    const key = this.#keys.get(keyHash);
    if (key === undefined || (key.expiresMs !== undefined && nowMs >= key.expiresMs)) return undefined;
    return key.agentId;
  }

  /** Applies a committed key rotation. */
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
