// Index of words: which events, by handle, have which words, and the search for events that match the terms of `q`. Ended events
// are in it, too: whoever searches looks at place and time.
import { hasPrefix, matchesWords, type Term } from '../domain/events/word-query.ts';
import { distinctWords, type Words } from '../domain/events/words.ts';
import { bytes, LongColumn, PIECE } from '../spatial/columns.ts';
import { bitsOf, type HandleSet, listOf, selected, setOfBits } from '../spatial/handle-set.ts';
import { Dictionary, WORDS_PER_VISIT } from './dictionary.ts';
import { Postings } from './postings.ts';
import { BYTES_PER_USE, bytesOfWord, WordUse } from './word-use.ts';
import { WordsByEvent } from './words-by-event.ts';

/** Handles and words that a search looks at before other requests may run: a few milliseconds. */
const STEPS_PER_TURN = 200_000;

export class WordIndex {
  readonly #dictionary: Dictionary;
  readonly #postings = new Postings();
  readonly #wordsOf = new WordsByEvent();
  readonly #use = new WordUse();
  /** KNOWN for events whose words are known, DROPPED for those that are to be removed. */
  readonly #isKnown = new LongColumn(bytes);
  #capacity = 0;
  #scratch: Int32Array = new Int32Array(64);
  readonly #searches = new Set<RunningSearch>();
  /** Events that are gone, but not yet removed. A handle may be here twice, or be used again. */
  readonly #dropped: number[] = [];

  /** The seed is to be random. */
  constructor(seed: number) {
    this.#dictionary = new Dictionary(seed);
  }

  get bytes(): number {
    const { bytes } = this.#dictionary;
    return bytes + this.#postings.bytes + this.#wordsOf.bytes + this.#use.bytes + this.#capacity;
  }

  /** Number of different words. */
  get size(): number {
    return this.#dictionary.size;
  }

  /** Makes room for handles below this. */
  reserve(capacity: number): void {
    if (capacity > this.#capacity) this.#grow(capacity);
  }

  has(handle: number): boolean {
    return handle < this.#capacity && this.#isKnown.get(handle) === KNOWN;
  }

  /** How much memory the words of the owner's events take. */
  bytesOf(owner: number): number {
    return this.#use.bytesOf(owner);
  }

  /**
   * At most so much more memory is used with these words, in place of those of an event. Does not rely on words that other events
   * have now: these may change first.
   */
  growthOf(words: Words, handle: number): number {
    const leaving = new Set(this.has(handle) ? this.#wordsOf.read(handle) : []);
    let growth = 0;
    for (const word of distinctWords(words)) {
      const isKept = leaving.delete(this.#dictionary.find(word as Words, 0, word.length));
      if (!isKept) growth += bytesOfWord(word.length) + BYTES_PER_USE;
    }
    for (const word of leaving) {
      growth -= BYTES_PER_USE;
      if (this.#postings.countOf(word) === 1) growth -= bytesOfWord(this.#dictionary.lengthOf(word));
    }
    return growth;
  }

  /** Sets the words of an event. */
  put(handle: number, words: Words, owner = 0): void {
    this.#remove(handle);
    if (handle >= this.#capacity) this.#grow(handle + 1);
    this.#isKnown.set(handle, KNOWN);
    let count = 0;
    for (let from = 0, end = 0; from < words.length; from = end + 1) {
      end = from;
      while (end < words.length && words.charCodeAt(end) !== SPACE) end++; // few characters: faster than indexOf
      if (end === from) continue;
      const known = this.#dictionary.size;
      const word = this.#dictionary.put(words, from, end);
      this.#postings.growWords(word + 1);
      if (this.#dictionary.size > known) this.#use.addWord(word, owner, end - from);
      if (!this.#postings.add(word, handle)) continue; // the event has it several times
      if (count === this.#scratch.length) this.#scratch = longer(this.#scratch);
      this.#scratch[count++] = word;
    }
    this.#wordsOf.set(handle, this.#scratch.subarray(0, count));
    this.#use.add(handle, owner, count);
    if (this.#searches.size > 0) this.#note(handle, words);
  }

  /** Searches do not find the event any more; `settle` removes its words. */
  drop(handle: number): void {
    if (!this.has(handle)) return;
    this.#isKnown.set(handle, DROPPED);
    this.#dropped.push(handle);
    if (this.#searches.size > 0) this.#note(handle, undefined);
  }

  get isSettled(): boolean {
    return this.#dropped.length === 0;
  }

  /** Removes words of dropped events, a limited number per call. */
  settle(): void {
    for (let steps = 0; steps < WORDS_PER_SETTLE; ) {
      const handle = this.#dropped.pop();
      if (handle === undefined) return;
      if (this.#isKnown.get(handle) !== DROPPED) continue;
      steps += this.#remove(handle) + 1;
    }
  }

  /** The events that match, to use before the next change. */
  findNow(terms: readonly Term[]): HandleSet {
    const finding = this.find(terms);
    for (;;) {
      const step = finding.next();
      if (step.done) return step.value;
    }
  }

  /** The events that match. Yields regularly, so that the caller can let other work run; changes in between are in the result. */
  *find(terms: readonly Term[]): Generator<void, HandleSet> {
    const search: RunningSearch = { terms, changed: new Map() };
    this.#searches.add(search);
    try {
      const isLong = hasPrefix(terms);
      const positive = terms.filter(({ isNegative }) => !isNegative);
      const prefixes = positive.flatMap(({ prefix }) => (prefix === undefined ? [] : [prefix]));
      let found = yield* this.#findAll(
        positive.flatMap(({ words }) => words),
        [...new Set(prefixes)],
        isLong,
      );
      for (const { isNegative, words, prefix } of terms) {
        if (!isNegative || found.size === 0) continue;
        found = without(found, yield* this.#findAll(words, prefix === undefined ? [] : [prefix], isLong));
      }
      if (search.changed.size > 0) found = withChanges(found, search.changed, this.#capacity);
      return this.isSettled ? found : this.#withoutDropped(found);
    } finally {
      this.#searches.delete(search);
    }
  }

  /** Whether the event matches now. */
  matches(handle: number, terms: readonly Term[]): boolean {
    if (!this.has(handle)) return false;
    const hasWord = (word: Words) => {
      const number = this.#dictionary.find(word, 0, word.length);
      return number !== 0 && this.#postings.has(number, handle);
    };
    const hasPrefix = (prefix: Words) =>
      this.#wordsOf.read(handle).some((word) => this.#dictionary.hasPrefix(word, prefix));
    return terms.every(({ isNegative, words, prefix }) => {
      const isMatch = words.every(hasWord) && (prefix === undefined || hasPrefix(prefix));
      return isMatch !== isNegative;
    });
  }

  /** Events with all these words and prefixes. `isLong`: the index may change before the result is used. */
  *#findAll(
    words: readonly Words[],
    prefixes: readonly Words[],
    isLong: boolean,
  ): Generator<void, HandleSet> {
    const found = words.map((word) => this.#dictionary.find(word, 0, word.length));
    if (found.includes(0)) return NOTHING;
    const [rarest, ...others] = found
      .map((word) => ({ word, count: this.#postings.countOf(word), isDense: this.#postings.isDense(word) }))
      .sort((a, b) => Number(a.isDense) - Number(b.isDense) || a.count - b.count);
    let set = rarest && this.#postings.setOf(rarest.word);
    // Words with bits come last, so if the first has bits, all have.
    if (set?.kind === 'bits' && others.length > 0) set = setOfBits(this.#postings.intersect(found));
    else if (set?.kind === 'list') {
      let { handles } = set;
      for (const { word } of others) handles = this.#postings.filter(handles, word);
      set = listOf(handles);
    }
    if (set && isLong) set = copyOf(set);
    for (const prefix of prefixes) {
      if (set?.size === 0) return NOTHING;
      const bits = yield* this.#findPrefixed(prefix);
      set = set ? within(set, bits) : setOfBits(bits);
    }
    return set ?? NOTHING;
  }

  *#findPrefixed(prefix: Words): Generator<void, Uint32Array> {
    let bits = new Uint32Array(this.#capacity / 32);
    let steps = 0;
    const visit = (word: number): boolean => {
      if (word === 0) steps += WORD_STEPS * WORDS_PER_VISIT;
      else {
        steps += WORD_STEPS + Math.min(this.#postings.countOf(word), bits.length);
        this.#postings.addTo(bits, word);
      }
      return steps > STEPS_PER_TURN;
    };
    for (let from: number | undefined; ; steps = 0) {
      from = this.#dictionary.visitPrefixed(prefix, from, visit);
      if (from === undefined) return bits;
      yield;
      // Handles that are new meanwhile.
      if (bits.length * 32 < this.#capacity) {
        const more = new Uint32Array(this.#capacity / 32);
        more.set(bits);
        bits = more;
      }
    }
  }

  /** Returns how many words it had. */
  #remove(handle: number): number {
    if (handle >= this.#capacity || this.#isKnown.get(handle) === 0) return 0;
    this.#isKnown.set(handle, 0);
    const words = this.#wordsOf.read(handle);
    const owner = this.#use.ownerOf(handle);
    for (const word of words) {
      this.#postings.remove(word, handle);
      if (this.#postings.countOf(word) === 0) {
        this.#use.removeWord(word, this.#dictionary.lengthOf(word));
        this.#dictionary.remove(word);
      } else if (this.#use.isPaidBy(word, owner)) {
        const other = this.#postings.findOne(word);
        if (other === undefined) continue;
        this.#use.pass(word, this.#use.ownerOf(other), this.#dictionary.lengthOf(word));
      }
    }
    this.#use.remove(handle, words.length);
    this.#wordsOf.clear(handle);
    return words.length;
  }

  #withoutDropped(set: HandleSet): HandleSet {
    if (set.kind === 'list') return listOf(set.handles.filter((handle) => this.has(handle)));
    const bits = set.bits.slice();
    for (const handle of this.#dropped) if (!this.has(handle)) bits[handle >>> 5]! &= ~(1 << handle);
    return setOfBits(bits);
  }

  #note(handle: number, words: Words | undefined): void {
    const known = words === undefined ? undefined : distinctWords(words);
    for (const { terms, changed } of this.#searches)
      changed.set(handle, known !== undefined && matchesWords(terms, known));
  }

  #grow(handles: number): void {
    this.#capacity = PIECE * Math.ceil(handles / PIECE);
    this.#isKnown.grow(this.#capacity);
    this.#wordsOf.grow(this.#capacity);
    this.#postings.growHandles(this.#capacity);
    this.#use.growHandles(this.#capacity);
  }
}

/** A search between two steps, with the events that changed since it began and whether they match. */
interface RunningSearch {
  readonly terms: readonly Term[];
  readonly changed: Map<number, boolean>;
}

const SPACE = 32;

const KNOWN = 1;
const DROPPED = 2;

/** Takes about a millisecond. */
const WORDS_PER_SETTLE = 2_000;

const NOTHING = listOf(new Int32Array(0));

/** Looking at a word takes as long as at this many handles. */
const WORD_STEPS = 16;

/** A set that later changes do not affect. */
export function copyOf(set: HandleSet): HandleSet {
  return set.kind === 'list' ? listOf(set.handles.slice()) : { ...set, bits: set.bits.slice() };
}

function within(set: HandleSet, bits: Uint32Array): HandleSet {
  if (set.kind === 'list') return listOf(selected(set.handles, bits));
  for (let at = 0; at < bits.length; at++) bits[at]! &= set.bits[at] ?? 0;
  return setOfBits(bits);
}

function without(set: HandleSet, other: HandleSet): HandleSet {
  if (other.size === 0) return set;
  if (set.kind === 'bits') {
    const bits = set.bits.slice();
    if (other.kind === 'list') for (const handle of other.handles) bits[handle >>> 5]! &= ~(1 << handle);
    else for (let at = 0; at < bits.length; at++) bits[at]! &= ~other.bits[at]!;
    return setOfBits(bits);
  }
  const excluded = bitsOf(
    other,
    Math.max(set.handles.at(-1)!, other.kind === 'list' ? other.handles.at(-1)! : 0) + 1,
  );
  return listOf(selected(set.handles, excluded, false));
}

function withChanges(set: HandleSet, changed: ReadonlyMap<number, boolean>, capacity: number): HandleSet {
  const bits = new Uint32Array(capacity / 32);
  bits.set(bitsOf(set, capacity));
  for (const [handle, isFound] of changed) {
    if (isFound) bits[handle >>> 5]! |= 1 << handle;
    else bits[handle >>> 5]! &= ~(1 << handle);
  }
  return setOfBits(bits);
}

function longer(numbers: Int32Array): Int32Array {
  const twice = new Int32Array(2 * numbers.length);
  twice.set(numbers);
  return twice;
}
