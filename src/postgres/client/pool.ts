// Pool of open connections to one host. concurrency-limit.ts limits how many are in use.

import { Connection } from './connection.ts';
import type { Session } from './driver.ts';

export class Pool {
  readonly #hostUrl: string;
  readonly #session: Session;
  readonly #connections = new Set<Connection>();
  readonly #idle: Connection[] = [];
  /** Connections outside the pool, see `open`. */
  readonly #own = new Set<Connection>();
  #isClosed = false;

  constructor(hostUrl: string, session: Session) {
    this.#hostUrl = hostUrl;
    this.#session = session;
  }

  get idle(): number {
    return this.#idle.length;
  }

  get busy(): number {
    return this.#connections.size - this.#idle.length;
  }

  /** Takes a connection for exclusive use; `release` returns it. */
  take(): Connection {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (connection.isUsable) return connection;
      this.#drop(connection);
    }
    const connection = new Connection(this.#hostUrl, this.#session);
    this.#connections.add(connection);
    return connection;
  }

  /** Opens a connection with other settings, which is not part of the pool but is dropped with it, or earlier by `discard`. */
  open(session: Session): Connection {
    const connection = new Connection(this.#hostUrl, session);
    this.#own.add(connection);
    return connection;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  discard(connection: Connection): void {
    this.#drop(connection);
  }

  release(connection: Connection): void {
    if (connection.isUsable && !this.#isClosed) this.#idle.push(connection);
    else this.#drop(connection);
  }

  /** Running statements fail with an error of a lost connection. */
  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#connections, ...this.#own]) this.#drop(connection);
  }

  #drop(connection: Connection): void {
    this.#connections.delete(connection);
    this.#own.delete(connection);
    connection.drop();
  }
}
