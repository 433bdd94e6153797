// Checks that a string is a URL that programs may follow. An event's `url` is free text, so encoders check it before they
// label it as a URL.

// RFC 3986, http and https only: an agent must not be able to publish a "javascript:" URL.
const PART = "[\\w\\-.~!$&'()*+,;=:@]|%[0-9a-f]{2}";
const WEB_URL = new RegExp(
  `^https?://(?:${PART}|[[\\]])+(?:/(?:${PART}|/)*)?(?:\\?(?:${PART}|[/?])*)?(?:#(?:${PART}|[/?])*)?$`,
  'i',
);

export function isWebUrl(text: string): boolean {
  return WEB_URL.test(text) && URL.canParse(text);
}
