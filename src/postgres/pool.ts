// The lines to one host that are open, in use or not. How many are in use at once is limited by slots.ts.
import type { Session } from './connect.ts';
import { Line } from './line.ts';

export class Pool {
  readonly #address: string;
  readonly #session: Session;
  readonly #lines = new Set<Line>();
  readonly #idle: Line[] = [];
  #isClosed = false;

  constructor(address: string, session: Session) {
    this.#address = address;
    this.#session = session;
  }

  /** A line for the caller alone, until it is given back. */
  take(): Line {
    for (let line = this.#idle.pop(); line; line = this.#idle.pop()) {
      if (line.isUsable) return line;
      this.#drop(line);
    }
    const line = new Line(this.#address, this.#session);
    this.#lines.add(line);
    return line;
  }

  giveBack(line: Line): void {
    if (line.isUsable && !this.#isClosed) this.#idle.push(line);
    else this.#drop(line);
  }

  /** Whatever is under way fails as lost. */
  close(): void {
    this.#isClosed = true;
    for (const line of this.#lines) this.#drop(line);
  }

  #drop(line: Line): void {
    this.#lines.delete(line);
    line.drop();
  }
}
