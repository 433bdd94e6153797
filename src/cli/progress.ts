// Progress of a long command: a bar that is redrawn in place on a terminal, a plain line every second elsewhere, nothing if
// the command is quick. Output is rate-limited, so callers may report as often as they like.
import { printable } from './command.ts';

const BAR_WIDTH = 24;
const TERMINAL_INTERVAL_MS = 100;
const PLAIN_INTERVAL_MS = 1_000;
/** Commands that take less show no progress. */
const QUICK_MS = 500;

/** The rate, and the time left, follow from what was done in the last seconds: a slow beginning says nothing about the rest. */
const WINDOW_MS = 5_000;
const SAMPLE_MS = 100;

/** How much was done when. */
interface Sample {
  readonly ms: number;
  readonly count: number;
  readonly share: number;
}

/** Standard error, or a substitute in tests. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export class Progress {
  readonly #screen: Screen;
  readonly #noun: string;
  readonly #stopwatch: () => number;
  readonly #startedMs: number;
  #shownMs: number;
  #isBarShown = false;
  /** The oldest first. */
  #samples: Sample[];

  constructor(noun: string, screen: Screen, stopwatch = () => performance.now()) {
    this.#noun = noun;
    this.#screen = screen;
    this.#stopwatch = stopwatch;
    this.#startedMs = stopwatch();
    this.#shownMs = this.#startedMs;
    this.#samples = [{ ms: this.#startedMs, count: 0, share: 0 }];
  }

  get seconds(): number {
    return (this.#stopwatch() - this.#startedMs) / 1000;
  }

  /** `share`: fraction of the work done, from 0 to 1; undefined if the total is unknown. The work begins with a count of 0. */
  update(count: number, share: number | undefined): void {
    const nowMs = this.#stopwatch();
    const since = this.#sample({ ms: nowMs, count, share: share ?? 0 });
    if (count === 0 || nowMs - this.#startedMs < QUICK_MS) return;
    if (nowMs - this.#shownMs < (this.#screen.isTTY ? TERMINAL_INTERVAL_MS : PLAIN_INTERVAL_MS)) return;
    this.#shownMs = nowMs;
    const seconds = Math.max(1, nowMs - since.ms) / 1_000;
    const rate = Math.round((count - since.count) / seconds);
    const words = [`${grouped(count)} ${this.#noun}`, `${grouped(rate)}/s`];
    if (share !== undefined && share > 0) words.unshift(`${Math.floor(share * 100)} %`);
    if (share !== undefined && share > since.share)
      words.push(`${remaining((seconds / (share - since.share)) * (1 - share))} left`);
    const text = words.join(', ');
    if (!this.#screen.isTTY) return void this.#screen.write(`${text}\n`);
    this.#screen.write(`\r${share === undefined ? '' : bar(share)}${text}\x1b[K`);
    this.#isBarShown = true;
  }

  /** Keeps the sample. Returns the one to compare it with. */
  #sample(now: Sample): Sample {
    if (now.count === 0) this.#samples = [now];
    while (this.#samples.length > 1 && this.#samples[1]!.ms <= now.ms - WINDOW_MS) this.#samples.shift();
    if (now.ms - this.#samples.at(-1)!.ms >= SAMPLE_MS) this.#samples.push(now);
    return this.#samples[0]!;
  }

  /** Prints text on its own line. It may be untrusted: control characters are replaced. The bar returns with the next update. */
  note(text: string): void {
    this.clear();
    this.#screen.write(`${printable(text)}\n`);
  }

  /** Like `note`, but prints nothing if the command has been quick so far. */
  milestone(text: string): void {
    if (this.#stopwatch() - this.#startedMs >= QUICK_MS) this.note(text);
  }

  /** Removes the bar, so that other code can print. */
  clear(): void {
    if (this.#isBarShown) this.#screen.write('\r\x1b[K');
    this.#isBarShown = false;
  }
}

/** Formats as 1,234,567. Does not use Intl: its first use takes longer than a quick start of the service. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

function bar(share: number): string {
  const filled = Math.floor(share * BAR_WIDTH);
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] `;
}

function remaining(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
