// The registration endpoint.
import { RegisterRequest, RegisterResponse, readRegistration } from '../../domain/agent.ts';
import { register as registerAgent } from '../../usecases/register.ts';
import { endpoint } from './endpoint.ts';

export const register = endpoint({
  operationId: 'register',
  tag: 'Registration',
  summary: 'Register an agent',
  description:
    'Creates an agent and returns its API key. The key is only in this response: store it. One e-mail address may register any number of agents.',
  access: 'registration',
  body: RegisterRequest,
  response: RegisterResponse,
  check: ({ body }) => readRegistration(body),
  handle: ({ context, caller, body }) => registerAgent(context, caller, body),
});
