// What the authorization server for MCP clients needs besides the store: sealed text that only the nodes of this service can make and
// read, and the documents in which clients describe themselves.

/** Encrypts values to text that expires. */
export interface Sealing {
  seal(value: Readonly<Record<string, unknown>>, expiresMs: number): Promise<string>;
  /** Undefined if the text was not made here for this purpose, or has expired. */
  open(sealed: string): Promise<Readonly<Record<string, unknown>> | undefined>;
}

/** Metadata that a client publishes at its client ID, a URL. */
export interface ClientDocument {
  readonly clientId: string;
  /** As the client calls itself: any text. */
  readonly name: string | undefined;
  /** Any texts, at least one. */
  readonly redirectUris: readonly string[];
}

export interface ClientDocumentFinder {
  /** For somebody in this network. Throws VALIDATION_ERROR if there is no valid document, RATE_LIMITED or OVERLOADED. */
  find(clientId: string, network: string): Promise<ClientDocument>;
}

export interface OAuthAccess {
  /** State of the consent page. */
  readonly pages: Sealing;
  /** The agent for which a browser gave consent last. */
  readonly remembered: Sealing;
  readonly documents: ClientDocumentFinder;
}
