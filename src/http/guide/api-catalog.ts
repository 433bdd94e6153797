// The API catalog (RFC 9727): links to everything that describes this service, for programs that know only its host.
import { type McpWays, otherUrls } from './mcp.ts';

export const API_CATALOG_PATH = '/.well-known/api-catalog';
export const API_CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/** A set of links (RFC 9264): first the catalog with its APIs, then each of them. */
export function writeApiCatalog(base: string, ways: McpWays): string {
  const { signIn, withoutKey } = otherUrls(base, ways);
  const mcp = [`${base}/mcp`, signIn, withoutKey].filter((url) => url !== undefined);
  const link = (path: string, type: string) => ({ href: `${base}${path}`, type });
  const status = [link('/health', 'application/json')];
  const linkset = [
    { anchor: `${base}${API_CATALOG_PATH}`, item: [`${base}/v1`, ...mcp].map((href) => ({ href })) },
    {
      anchor: `${base}/v1`,
      'service-desc': [link('/openapi.json', 'application/json')],
      'service-doc': [
        link('/docs', 'text/html'),
        link('/for-agents', 'text/html'),
        link('/llms.txt', 'text/plain'),
        link('/SKILL.md', 'text/markdown'),
      ],
      status,
    },
    ...mcp.map((anchor) => ({ anchor, 'service-doc': [link('/for-agents', 'text/html')], status })),
  ];
  return JSON.stringify({ linkset });
}

/** Header of the response, also to HEAD. */
export function apiCatalogLink(base: string): string {
  return `<${base}${API_CATALOG_PATH}>; rel="api-catalog"`;
}
