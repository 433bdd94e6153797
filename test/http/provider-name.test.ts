// The name of the identity provider that the console shows.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startTestService } from '../support/service.ts';

it('is OIDC_NAME, or else the host of the issuer', async (test) => {
  const provider = { OIDC_ISSUER: 'https://id.example.com/realms/main', OIDC_CLIENT_ID: 'console' };
  for (const [name, shown] of [
    [undefined, 'id.example.com'],
    ['Example accounts', 'Example accounts'],
  ] as const) {
    const service = await startTestService(
      { ...provider, ...(name && { OIDC_NAME: name }) },
      { until: test },
    );
    assert.equal((await service.client.get('/admin/session')).body.provider, shown);
  }
});
