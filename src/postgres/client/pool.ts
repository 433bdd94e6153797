// Pool of open connections to one host. concurrency-limit.ts limits how many are in use.

import { Connection } from './connection.ts';
import type { Session } from './driver.ts';

export class Pool {
  readonly #hostUrl: string;
  readonly #session: Session;
  readonly #connections = new Set<Connection>();
  readonly #idle: Connection[] = [];
  #isClosed = false;

  constructor(hostUrl: string, session: Session) {
    this.#hostUrl = hostUrl;
    this.#session = session;
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

  release(connection: Connection): void {
    if (connection.isUsable && !this.#isClosed) this.#idle.push(connection);
    else this.#drop(connection);
  }

  /** Running statements fail with an error of a lost connection. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections) this.#drop(connection);
  }

  #drop(connection: Connection): void {
    this.#connections.delete(connection);
    connection.drop();
  }
}
