// Entry of the thread that finds the words of long texts.
import { parentPort } from 'node:worker_threads';
import { type Texts, type Words, wordsOf } from '../domain/events/words.ts';

export interface TokenizerRequest {
  readonly id: number;
  readonly texts: Texts;
}

export interface TokenizerResponse {
  readonly id: number;
  readonly words: Words;
}

parentPort!.on('message', ({ id, texts }: TokenizerRequest) => {
  parentPort!.postMessage({ id, words: wordsOf(texts) } satisfies TokenizerResponse);
});
