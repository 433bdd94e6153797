// Types for the parts of oidc-provider that the tests use; it comes without types. Each part is imported by its own path
// because the package's index, and a storage adapter that is not configured, print warnings on the console.
declare module 'oidc-provider/lib/provider.js' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  /** The part of a request's context that hooks read. */
  export interface ProviderContext {
    readonly oidc: {
      readonly provider: Provider;
      readonly client: { readonly clientId: string };
      readonly account: { readonly accountId: string };
    };
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    readonly Grant: new (of: {
      accountId: string;
      clientId: string;
    }) => Grant;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result:
        | { login: { accountId: string }; select_account: object }
        | { error: string; error_description: string },
    ): Promise<void>;
  }
}

declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  export function createMemoryAdapter(): unknown;
}

declare module 'oidc-provider/lib/helpers/interaction_policy/index.js' {
  export class Prompt {
    constructor(info: { name: string; requestable: boolean });
  }
  export function base(): { add(prompt: Prompt, at: number): void };
}
