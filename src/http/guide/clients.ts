// The guide's section on generated clients: the one setting that some generators need. docs/clients.md has whole programs.
import { type Block, code, text } from './blocks.ts';

export function clientBlocks(base: string): Block[] {
  return [
    text(
      'Generators for OpenAPI 3.1 make a client from `/openapi.json`. A search and an event have several media types; without `Accept` and `format`, the response is always JSON.',
    ),
    text(
      "**openapi-typescript** and **openapi-fetch**: `createClient<paths, 'application/json'>` chooses JSON, and `--default-non-nullable=false` keeps fields with a default optional.",
    ),
    code('sh', `npx openapi-typescript ${base}/openapi.json --default-non-nullable=false -o schema.ts`),
    text(
      "**orval**: `override: { contentType: { include: ['application/json'] } }` in its `output` chooses JSON.",
    ),
    text('**Hey API** needs no setting.'),
    code('sh', `npx @hey-api/openapi-ts -i ${base}/openapi.json -o hey-api`),
  ];
}
