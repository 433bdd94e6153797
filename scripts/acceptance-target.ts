// A service for the acceptance suite, as users run it: a separate process with its own data and default settings.
import assert from 'node:assert/strict';
import { Client } from '../test/support/client.ts';
import { launchService, run } from '../test/support/process.ts';

export interface AcceptanceTarget {
  /** The variables that the suite reads: BASE_URL, ADMIN_TOKEN and READ_KEY. */
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

/** `data` has the variable DATA_DIR or DATABASE_URL. */
export async function startAcceptanceTarget(data: Record<string, string>): Promise<AcceptanceTarget> {
  const service = await launchService(data);
  const stop = async () => {
    service.child.kill('SIGTERM');
    await service.ended;
  };
  try {
    const { stdout } = await run(['admin-token', '--email', 'admin@example.com', '--name', 'Ada'], data);
    const token = stdout.trim();
    const env = { BASE_URL: service.url, ADMIN_TOKEN: token, READ_KEY: await readKey(service.url, token) };
    return { env, stop };
  } catch (error) {
    await stop(); // while it runs, this process would not end
    throw error;
  }
}

async function readKey(url: string, token: string): Promise<string> {
  const client = new Client(url);
  const administrator = client.with({ authorization: `Bearer ${token}` });
  const registered = await client.post('/v1/auth/register', {
    email: 'read@example.com',
    agent_name: 'reader',
  });
  const { agents } = (await administrator.get('/v1/admin/agents')).body;
  const changed = await administrator.patch(`/v1/admin/agents/${agents[0].id}`, { tier: 'read' });
  assert.equal(changed.status, 200, changed.text);
  return registered.body.api_key;
}
