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
  readonly name: string | undefined;
  readonly redirectUris: readonly string[];
}

export interface ClientDocumentFinder {
  /** For a client of this network. Throws an Error whose message says to a person why there is no usable document. */
  find(clientId: string, network: string): Promise<ClientDocument>;
}

export interface OAuthAccess {
  /** State of the consent page. */
  readonly pages: Sealing;
  /** The agent for which a browser gave consent last. */
  readonly remembered: Sealing;
  readonly documents: ClientDocumentFinder;
}
