// Parameters of several administrators' endpoints: `agent_id` in the path, and `for_good` of deletes.

import { DeleteParameters, readForGood } from '../../domain/administration/undo.ts';
import Type from '../../domain/schema.ts';
import { reader } from '../../domain/shape.ts';
import { queryReader } from '../request/query.ts';
import type { Call } from './endpoint.ts';

export const AgentPath = Type.Object({
  agent_id: Type.String({
    format: 'uuid',
    description: 'ID of the agent, in upper or lower case.',
    examples: ['0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90'],
  }),
});
const readAgentPath = reader(AgentPath, 'path');

/** Returns the ID in lower case. Throws VALIDATION_ERROR. */
export function agentIdOf({ path }: Call): string {
  return readAgentPath(path).agent_id.toLowerCase();
}

export const forGoodIn = queryReader(DeleteParameters, readForGood);
