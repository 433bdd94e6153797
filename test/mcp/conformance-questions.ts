// Fixtures of the conformance suite that ask the client something before they respond (revision 2026-07-28): the question
// is a result, and the answer comes with the next request, together with a state that the server signed.
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';

export const REQUEST_STATE = createRequestStateCodec<{ step: number }>({
  key: 'a key that only this test has, and long enough',
});

const form = (message: string, field: string) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [field]: { type: 'string' } }, required: [field] },
  });
const question = inputRequired.createMessage({
  messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
  maxTokens: 100,
});
const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

type Requests = Parameters<typeof inputRequired>[0]['inputRequests'];

export function addQuestions(server: McpServer): void {
  /** A tool that asks until every question is answered. */
  const ask = (name: string, inputRequests: NonNullable<Requests>, withState = false) =>
    server.registerTool(`test_${name}`, { description: 'Asks first.' }, async (context) => {
      if (isAnswered(context, inputRequests)) return said('state-ok');
      return inputRequired({
        inputRequests,
        ...(withState && { requestState: await REQUEST_STATE.mint({ step: 1 }) }),
      });
    });
  ask('input_required_result_elicitation', { user_name: form('What is your name?', 'name') });
  ask('input_required_result_sampling', { capital_question: question });
  ask('input_required_result_list_roots', { client_roots: inputRequired.listRoots() });
  ask('streaming_elicitation', { user_name: form('What is your name?', 'name') });
  const confirm = { confirm: form('Please confirm.', 'ok') };
  ask('input_required_result_request_state', confirm, true);
  ask('input_required_result_tampered_state', confirm, true);
  const several = { user_name: form('What is your name?', 'name'), capital_question: question };
  ask('input_required_result_multiple_inputs', { ...several, roots: inputRequired.listRoots() }, true);
  addRounds(server);
  addCapabilities(server);
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks first.' }, (context) => {
    const inputRequests = { user_context: form('What is it about?', 'context') };
    if (!isAnswered(context, inputRequests)) return inputRequired({ inputRequests });
    return { messages: [{ role: 'user', content: { type: 'text', text: 'About that.' } }] };
  });
}

function addRounds(server: McpServer): void {
  const name = 'test_input_required_result_multi_round';
  server.registerTool(name, { description: 'Asks twice.' }, async ({ mcpReq }) => {
    const step = mcpReq.requestState<{ step: number }>()?.step ?? 0;
    if (step >= 2 && acceptedContent(mcpReq.inputResponses, 'step2')) return said('Twice.');
    const next = step === 1 && acceptedContent(mcpReq.inputResponses, 'step1') ? 2 : 1;
    return inputRequired({
      inputRequests: { [`step${next}`]: form(`Question ${next}`, 'answer') },
      requestState: await REQUEST_STATE.mint({ step: next }),
    });
  });
}

function addCapabilities(server: McpServer): void {
  const declared = ({ mcpReq }: ServerContext): ClientCapabilities =>
    (mcpReq.envelope as Record<string, ClientCapabilities>)[CLIENT_CAPABILITIES_META_KEY]!;
  server.registerTool('test_missing_capability', { description: 'Needs sampling.' }, (context) => {
    if (declared(context).sampling) return said('There is sampling.');
    return inputRequired({ inputRequests: { capital_question: question } });
  });
  const name = 'test_input_required_result_capabilities';
  server.registerTool(name, { description: 'Asks what the client can answer.' }, (context) => {
    const { sampling, elicitation } = declared(context);
    return inputRequired({
      inputRequests: {
        ...(sampling && { capital_question: question }),
        ...(elicitation && { user_name: form('What is your name?', 'name') }),
      },
    });
  });
}

function isAnswered({ mcpReq }: ServerContext, requests: NonNullable<Requests>): boolean {
  return Object.keys(requests).every((key) => inputResponse(mcpReq.inputResponses, key).kind !== 'missing');
}
