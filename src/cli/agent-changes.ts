// Changes of agents by an operator: in the database, or the data folder if no service uses it; beside a running service by its API,
// with a token for this moment. The audit log has the operator's user name.
import { userInfo } from 'node:os';
import { type Config, localUrl } from '../config.ts';
import type { Identity } from '../domain/administration/admin.ts';
import type { AgentUpdate } from '../domain/agent.ts';
import { FolderInUse, StartError } from '../domain/errors.ts';
import { getSigningKey, openBulkWriter } from '../engines.ts';
import { mintToken } from '../oidc/local-issuer.ts';
import { systemClock, systemRandom } from '../system.ts';
import * as admin from '../usecases/admin.ts';
import { replaceAgentKeys } from '../usecases/agent-details.ts';
import type { AgentContext } from '../usecases/context.ts';

/** Longer than any response takes. */
const API_TIMEOUT_MS = 20_000;

/** A minute: the command runs for seconds. */
const TOKEN_HOURS = 1 / 60;

/** All throw AppError or StartError. */
export interface AgentChanges {
  update(agentId: string, update: AgentUpdate): ReturnType<typeof admin.updateAgent>;
  delete(agentId: string): Promise<void>;
  newKey(agentId: string): ReturnType<typeof replaceAgentKeys>;
  close(): Promise<void>;
}

/** Throws StartError. If only the console can make the changes, the message has its URL for this agent. */
export async function openAgentChanges(config: Config, agentId: string): Promise<AgentChanges> {
  try {
    return await openStored(config);
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
    return openApi(config, agentId);
  }
}

async function openStored(config: Config): Promise<AgentChanges> {
  const store = await openBulkWriter(config);
  const context: AgentContext = { store, clock: systemClock, random: systemRandom, policy: config.policy };
  const operator: Identity = {
    ...{ subject: operatorSubject(), email: undefined, emailVerified: false, hostedDomain: undefined },
    ...{ name: undefined, picture: undefined, local: true },
  };
  return {
    update: (agentId, update) => admin.updateAgent(context, operator, agentId, update),
    delete: (agentId) => admin.deleteAgent(context, operator, agentId),
    newKey: (agentId) => replaceAgentKeys(context, operator, agentId),
    close: () => store.close(),
  };
}

async function openApi(config: Config, agentId: string): Promise<AgentChanges> {
  const url = localUrl(config);
  if (config.oidc) {
    throw new StartError(
      `The service is running, and accepts only tokens from ${config.oidc.issuer} (OIDC_ISSUER). ` +
        `Do this in its console: ${config.publicUrl ?? url}/admin/agents/${agentId}`,
    );
  }
  const claims = { subject: operatorSubject(), name: undefined, hours: TOKEN_HOURS };
  const token = await mintToken(await getSigningKey(config), claims, systemClock());
  const send = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${url}/v1/admin/agents/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(API_TIMEOUT_MS),
    }).catch((cause: Error) => {
      const reason = cause.cause instanceof Error ? cause.cause.message : cause.message;
      throw new StartError(
        `The service that uses ${config.dataDir} does not respond at ${url}: ${reason}. ${SAME}`,
        {
          cause,
        },
      );
    });
    const text = await response.text();
    if (response.ok) return text === '' ? undefined : JSON.parse(text);
    throw new StartError(refusalOf(response.status, text, url));
  };
  return {
    update: (id, update) => send('PATCH', id, update) as ReturnType<AgentChanges['update']>,
    delete: (id) => send('DELETE', id) as Promise<void>,
    newKey: (id) => send('POST', `${id}/keys`) as ReturnType<AgentChanges['newKey']>,
    close: async () => {},
  };
}

const SAME = 'Run this command with the HOST and PORT of that service.';

function refusalOf(status: number, text: string, url: string): string {
  let error: { code?: string; message?: string } = {};
  try {
    error = JSON.parse(text).error ?? {};
  } catch {
    // not one of our services
  }
  if (error.code === 'INVALID_TOKEN' || error.message === undefined) {
    return `What responds at ${url} (${status}) is not the service that uses this data folder. ${SAME}`;
  }
  return error.message;
}

/** Who runs this command, for the audit log. */
function operatorSubject(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return 'cli'; // a user without a name, in a container
  }
}
