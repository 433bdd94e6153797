// How far the service is: the store is being opened, or the use cases can be called.
import type { Context } from '../usecases/context.ts';

export type Readiness = { readonly done: number; readonly total: number } | { readonly context: Context };
