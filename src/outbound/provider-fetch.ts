// `fetch` for the identity provider: the issuer and the endpoints in its metadata, which the operator trusts by OIDC_ISSUER.
// They may use http, any port and private networks. The libraries that call it check everything else.

const MAX_BYTES = 1_048_576;

/** Rejects if the body has more than 1 MiB. Takes as long as `init.signal` allows, body included. */
export async function providerFetch(url: string, init: object): Promise<Response> {
  const { protocol, origin } = new URL(url);
  if (!/^https?:$/.test(protocol)) throw new Error(`The identity provider names a URL with ${protocol}`);
  const response = await fetch(url, init);
  if (!response.body) return response;
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body) {
    length += piece.length;
    if (length > MAX_BYTES) throw new Error(`${origin} sent more than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  const { status, statusText, headers } = response;
  return new Response(Buffer.concat(pieces), { status, statusText, headers });
}
