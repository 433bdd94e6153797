// Owner of each API key, in memory because every request needs it. The store checks whether the agent is active.
import type { Rotated } from './threads/key-writes.ts';

interface KeyOwner {
  readonly agentId: string;
  /** Undefined for keys that never expire: most of them. */
  readonly expiresMs: number | undefined;
}

export class KeyOwners {
  readonly #onRemoved: (keyHash: string) => void;
  readonly #keys = new Map<string, KeyOwner>();
  /** Hashes of each agent's keys; a list only if there are several, because most agents have one. */
  readonly #ofAgent = new Map<string, string | string[]>();

  /** `onRemoved` is called with each key that no longer exists. */
  constructor(onRemoved: (keyHash: string) => void) {
    this.#onRemoved = onRemoved;
  }

  put(keyHash: string, agentId: string, expiresMs: number | undefined): void {
    if (!this.#keys.has(keyHash)) this.#ofAgent.set(agentId, withKey(this.#ofAgent.get(agentId), keyHash));
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
    const key = this.#keys.get(keyHash);
    if (!key) return;
    this.#keys.delete(keyHash);
    this.#onRemoved(keyHash);
    const left = [this.#ofAgent.get(key.agentId)!].flat().filter((other) => other !== keyHash);
    if (left.length > 0) this.#ofAgent.set(key.agentId, left);
    else this.#ofAgent.delete(key.agentId);
  }

  removeOf(agentId: string): void {
    for (const keyHash of [this.#ofAgent.get(agentId) ?? []].flat()) {
      this.#keys.delete(keyHash);
      this.#onRemoved(keyHash);
    }
    this.#ofAgent.delete(agentId);
  }
}

function withKey(known: string | string[] | undefined, keyHash: string): string | string[] {
  return known === undefined ? keyHash : [known, keyHash].flat();
}
