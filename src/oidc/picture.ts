// Profile pictures, fetched from the URL in the provider's token, so that browsers contact no third party. Only images of
// limited size. Which URLs and IP addresses they may come from is left to outbound/.
import type { Picture, Pictures } from '../domain/administration/session.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { TIMEOUT_MS } from './provider.ts';

const LIMITS = {
  timeoutMs: TIMEOUT_MS,
  maxBytes: 524_288,
  accept: 'image/png, image/jpeg, image/webp, image/gif',
  redirects: 3,
};
const TYPES = /^image\/(?:png|jpeg|webp|gif)$/;

export function profilePictures(outbound: Outbound): Pictures {
  return {
    mayLoad: (url) => outbound.mayGet('picture', url),
    load: async (url): Promise<Picture | undefined> => {
      const fetched = await outbound.get('picture', url, LIMITS);
      if (fetched.kind === 'failed' || fetched.status !== 200) return undefined;
      const type = /^[^;\s]*/.exec(fetched.headers['content-type'] ?? '')![0].toLowerCase();
      return TYPES.test(type) ? { type, bytes: fetched.bytes } : undefined;
    },
  };
}
