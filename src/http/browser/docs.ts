// The interactive API documentation at /docs: Swagger UI from its npm package, so that pages load nothing from other hosts.
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { StaticDocument } from '../response/static-document.ts';

const PACKAGE = new URL('.', import.meta.resolve('swagger-ui-dist/package.json'));

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>local-events API</title>
<link rel="icon" href="/docs/favicon.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="/docs/swagger-ui.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

// Requests go to the host that served the page, even if PUBLIC_URL differs. The AdminSession scheme is removed because the
// browser sends the console's session cookie automatically: there is nothing to enter.
const START = `fetch('/openapi.json').then((answer) => answer.json()).then((spec) => {
  spec.servers = [{ url: location.origin }];
  delete spec.components.securitySchemes.AdminSession;
  for (const operation of Object.values(spec.paths).flatMap(Object.values)) {
    // A path may have parameters beside its operations.
    if (operation.security) operation.security = operation.security.filter((scheme) => !scheme.AdminSession);
  }
  SwaggerUIBundle({
    spec,
    dom_id: '#page',
    deepLinking: true,
    validatorUrl: null,
    tryItOutEnabled: true,
    displayRequestDuration: true,
  });
});
`;

// Swagger UI uses inline styles and icons from data: URLs; scripts come only from this service.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function serveDocs(app: FastifyInstance): void {
  const headers = { 'content-security-policy': POLICY, 'cache-control': 'no-cache' };
  const serve = (path: string, type: string, content: string | Buffer) => {
    const document = new StaticDocument(content, type, headers);
    app.get(path, (_request, reply) => document.send(reply));
  };
  const asset = (name: string) => readFileSync(new URL(name, PACKAGE));
  serve('/docs', 'text/html; charset=utf-8', PAGE);
  serve('/docs/start.js', 'text/javascript; charset=utf-8', START);
  serve('/docs/swagger-ui.js', 'text/javascript; charset=utf-8', asset('swagger-ui-bundle.js'));
  serve('/docs/swagger-ui.css', 'text/css; charset=utf-8', asset('swagger-ui.css'));
  serve('/docs/favicon.png', 'image/png', asset('favicon-32x32.png'));
  app.get('/', (_request, reply) => reply.redirect('/docs'));
}
