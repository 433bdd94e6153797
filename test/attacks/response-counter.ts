// Follows the responses on one connection and forgets their bodies: an attacker must not need more CPU time than it costs
// the service.

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

export class ResponseCounter {
  readonly #isToHead: boolean;
  readonly #onResponse: (name: string, retryAfterMs: number) => void;
  #head = '';
  #name = '';
  #retryAfterMs = 0;
  /** Bytes of the body still to come; infinite if it is sent in chunks. */
  #left = 0;

  /** `onResponse` gets the status; a 429 or 503 without Retry-After is named as such. */
  constructor(isToHead: boolean, onResponse: (name: string, retryAfterMs: number) => void) {
    this.#isToHead = isToHead;
    this.#onResponse = onResponse;
  }

  feed(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at);
        at += taken;
        this.#left -= taken;
        const isLast = this.#left === Infinity && bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
        if (isLast) this.#left = 0;
        if (this.#left === 0) this.#onResponse(this.#name, this.#retryAfterMs);
        continue;
      }
      const before = this.#head.length;
      this.#head += bytes.toString('latin1', at, at + 16_384);
      const end = this.#head.indexOf(HEAD_END);
      if (end < 0) {
        at += this.#head.length - before;
        continue;
      }
      at += end + HEAD_END.length - before;
      this.#readHead(this.#head.slice(0, end));
      this.#head = '';
      if (this.#left === 0) this.#onResponse(this.#name, this.#retryAfterMs);
    }
  }

  #readHead(head: string): void {
    const status = head.slice(9, 12);
    const isRefusal = status === '429' || status === '503';
    const seconds = isRefusal ? /^retry-after: *(\d+)/im.exec(head)?.[1] : '0';
    this.#name = seconds === undefined ? `${status} without Retry-After` : status;
    this.#retryAfterMs = Number(seconds ?? 0) * 1000;
    const length = /^content-length: *(\d+)/im.exec(head)?.[1];
    const isEmpty = this.#isToHead || status === '204' || status === '304';
    this.#left = isEmpty ? 0 : length === undefined ? Infinity : Number(length);
  }
}
