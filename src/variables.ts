// Environment variables as values: reads each by its kind, and notes what is wrong with it. Which there are is in config.ts.
import { BYTES_PER_MB } from './domain/store.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** Reads variables, and notes what is wrong with them. One that is empty counts as not set. */
export class Variables {
  readonly problems: string[] = [];
  readonly #env: Env;

  constructor(env: Env) {
    this.#env = env;
  }

  text(name: string): string | undefined {
    return this.#env[name]?.trim() || undefined;
  }

  isSet(name: string): boolean {
    return this.text(name) !== undefined;
  }

  number(name: string, fallback: number, max = 1_000_000_000, min = 0): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    if (/^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
    this.problems.push(`${name} must be a whole number from ${min} to ${max}; it is "${value}".`);
    return fallback;
  }

  /** In bytes. */
  megabytes(name: string, fallback: number, { min = 0, max = 1_000_000 } = {}): number {
    return this.number(name, fallback, max, min) * BYTES_PER_MB;
  }

  days(name: string): number | undefined {
    return this.isSet(name) ? this.number(name, 1, 36_500, 1) : undefined;
  }

  /** A calendar date as YYYY-MM-DD. */
  date(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const ms = /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(value) : Number.NaN;
    // Date.parse takes 2027-02-30 for a day in March.
    if (!Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value)) return value;
    this.problems.push(`${name} must be a date such as 2026-11-18; it is "${value}".`);
    return undefined;
  }

  choice<T extends string>(name: string, values: readonly T[], fallback: T): T {
    const value = this.text(name) ?? fallback;
    if ((values as readonly string[]).includes(value)) return value as T;
    this.problems.push(`${name} must be one of ${values.join(', ')}; it is "${value}".`);
    return fallback;
  }

  /** Without slashes at the end. */
  url(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (/^https?:\/\/[^\s?#]+$/i.test(value) && URL.canParse(value)) return value.replace(/\/+$/, '');
    this.problems.push(`${name} must be an http or https URL without a query; it is "${value}".`);
    return undefined;
  }

  /** Items between commas. `hint` says what they are. */
  list(name: string, hint: string, isValid: (item: string) => boolean): string[] {
    const items = (this.text(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    const bad = items.filter((item) => !isValid(item));
    if (bad.length > 0) this.problems.push(`${name} must list ${hint}; it has "${bad.join('", "')}".`);
    return items;
  }
}
