// Whether a text is an address that programs may follow. `url` is free text, so other formats ask before they call it one.

// RFC 3986, of the schemes of the web: no "javascript:" may come out of what an agent wrote.
const PART = "[\\w\\-.~!$&'()*+,;=:@]|%[0-9a-f]{2}";
const ADDRESS = new RegExp(
  `^https?://(?:${PART}|[[\\]])+(?:/(?:${PART}|/)*)?(?:\\?(?:${PART}|[/?])*)?(?:#(?:${PART}|[/?])*)?$`,
  'i',
);

export function isWebAddress(text: string): boolean {
  return ADDRESS.test(text) && URL.canParse(text);
}
