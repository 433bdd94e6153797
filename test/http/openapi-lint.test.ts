// The OpenAPI document passes an independent linter.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder, useTestService } from '../support/service.ts';

const REDOCLY = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));

describe('GET /openapi.json', () => {
  const service = useTestService({ PUBLIC_URL: 'https://events.example.org' });

  const lint = (document: unknown) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    const ended = spawnSync(
      process.execPath,
      [REDOCLY, 'lint', '--extends=recommended', '--format=json', 'openapi.json'],
      {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    const problems = JSON.parse(ended.stdout).problems as { ruleId: string; message: string }[];
    return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
  };

  it('passes the recommended rules without an error or a warning', async () => {
    assert.deepEqual(lint((await service.client.get('/openapi.json')).body), []);
  });

  it('fails the linter if an operation has no operationId', async () => {
    const { body } = await service.client.get('/openapi.json');
    delete body.paths['/v1/events'].post.operationId;
    assert.equal(lint(body).length, 1);
  });

  it('is version 1.0.0 in OpenAPI 3.1, with the public URL', async () => {
    const { body } = await service.client.get('/openapi.json');
    assert.equal(body.openapi, '3.1.0');
    assert.equal(body.info.version, '1.0.0');
    assert.deepEqual(body.servers, [{ url: 'https://events.example.org' }]);
  });
});
