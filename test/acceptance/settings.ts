// The three variables of the suite. It assumes nothing else about the deployment, except default settings.

const HOW_TO_GET: Record<string, string> = {
  BASE_URL: 'the address of the service, such as http://127.0.0.1:8080',
  ADMIN_TOKEN:
    'a bearer token of an administrator; without an identity provider, "npm run cli -- admin-token --email you@example.com" prints one',
  READ_KEY:
    'the API key of an agent with the tier read: register an agent, then send PATCH /v1/admin/agents/{its id} {"tier":"read"}',
};

function setting(name: string): string {
  const value = process.env[name]?.trim();
  if (value) return value;
  throw new Error(`The acceptance suite needs the variable ${name}: ${HOW_TO_GET[name]}.`);
}

/** Without a slash at the end. */
export const BASE_URL = setting('BASE_URL').replace(/\/+$/, '');
export const ADMIN_TOKEN = setting('ADMIN_TOKEN');
export const READ_KEY = setting('READ_KEY');
