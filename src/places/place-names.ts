// How names of places are compared: folded as the words of the search are. The script that builds the file of places does the same, so that
// names and queries agree.
import { foldedText } from '../domain/events/words.ts';

/** Written or left out as people like: Xi'an, Xi’an, Xian; Hawaiʻi. */
const APOSTROPHES = /['’‘ʼʻʽ`´′]/g;

/** Words that names have in short, too: St. Louis. At the end of a text they may be the beginning of another word. */
const SHORT = /(?<=^| )(?:st|ste|mt|ft) /g;
const LONG: Readonly<Record<string, string>> = {
  'st ': 'saint ',
  'ste ': 'sainte ',
  'mt ': 'mount ',
  'ft ': 'fort ',
};

/** "City" behind a name, in scripts that write it without a space or as a word of its own. */
const CITY = /(?<=..)(?:市+|မြို့| 시)$/;

/** The spelling under which a name is found: equal for all spellings of it. Empty for a text without letters and digits. */
export function nameKey(name: string): string {
  const folded = foldedText(name.replace(APOSTROPHES, ''));
  return folded.replace(SHORT, (word) => LONG[word]!).replace(CITY, '');
}
