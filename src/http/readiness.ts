// Readiness of the service.
import type { Context } from '../usecases/context.ts';

/** While the store opens: events loaded so far, of the total. Afterwards: the context for use cases. */
export type Readiness = { readonly done: number; readonly total: number } | { readonly context: Context };
