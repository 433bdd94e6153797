// Registration over HTTP.
import { RegisterRequest, RegisterResponse } from '../../domain/agent.ts';
import { register as registerAgent } from '../../usecases/register.ts';
import { endpoint } from '../endpoint.ts';

export const register = endpoint({
  operationId: 'register',
  tag: 'Registration',
  summary: 'Register an agent',
  description:
    'Gives a new agent its API key. The key is in this response and nowhere else, ever: keep it. One e-mail address may register any number of agents.',
  access: 'registration',
  body: RegisterRequest,
  answer: RegisterResponse,
  handle: ({ context, caller, body }) => registerAgent(context, caller, body),
});
