// Counts refusals by the limit or quota that refused. All series exist from the start: a rate needs a zero to begin with.
import { AppError, LIMITS, QUOTAS, type RefusedBy } from '../../domain/errors.ts';
import { type Count, Metrics } from '../../metrics/metrics.ts';

export class Refusals {
  readonly #counts = new Map<RefusedBy, Count>();

  constructor(metrics = new Metrics()) {
    for (const cause of LIMITS) {
      const help = 'Requests and connections refused, by the limit.';
      this.#counts.set(cause, metrics.counter('local_events_refusals_total', help, { cause }));
    }
    for (const quota of QUOTAS) {
      const help = 'Requests refused because an hourly quota is used up.';
      this.#counts.set(
        `quota ${quota}`,
        metrics.counter('local_events_quota_refusals_total', help, { quota }),
      );
    }
  }

  /** Counts the error if it is a refusal. */
  count(error: unknown): void {
    if (error instanceof AppError && error.refusedBy) this.countOne(error.refusedBy);
  }

  countOne(refusedBy: RefusedBy): void {
    this.#counts.get(refusedBy)!.value++;
  }
}
