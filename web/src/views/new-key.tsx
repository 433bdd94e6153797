// A new key for an agent that lost its own: asks, replaces all keys, and shows the new one once.
import { useId, useState } from 'preact/hooks';
import { type AgentDetails, type NewKey, replaceKeys } from '../api.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Modal } from '../components/modal.tsx';
import { Text } from '../components/text.tsx';

interface NewKeyProps {
  agent: AgentDetails;
  /** Called when the key has been shown, too. */
  onDone: () => void;
  onGone: () => void;
  onClose: () => void;
}

export function NewKeyDialog({ agent, onDone, onGone, onClose }: NewKeyProps) {
  const [made, setMade] = useState<NewKey>();
  const name = (
    <strong>
      <Text value={agent.agent_name} />
    </strong>
  );
  if (made) return <ShownOnce apiKey={made.api_key} agent={agent} onDone={onDone} />;
  return (
    <ConfirmDialog
      title="New key"
      confirm="Create new key"
      pending="Creating…"
      isDanger={agent.keys.length > 0}
      action={async () => setMade(await replaceKeys(agent.id))}
      onDone={() => {}}
      onGone={onGone}
      onClose={onClose}
    >
      <p>
        {name} will get a new key, for example because it lost its own. You will see the key once, to pass it
        on.
      </p>
      {agent.keys.length > 0 && (
        <p>
          {agent.keys.length === 1 ? 'Its other key stops' : 'All its other keys stop'} working at once, and
          its grants end. Its events and limits stay.
        </p>
      )}
      {!agent.is_active && <p>The agent is inactive: the key works once it is reactivated.</p>}
    </ConfirmDialog>
  );
}

interface ShownOnceProps {
  apiKey: string;
  agent: AgentDetails;
  onDone: () => void;
}

/** Only its button closes it: a key that was closed by mistake is lost. */
function ShownOnce({ apiKey, agent, onDone }: ShownOnceProps) {
  const id = useId();
  return (
    <Modal class="confirm" labelledBy={id} isLocked onClose={onDone}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onDone();
        }}
      >
        <h2 id={id}>
          New key of <Text value={agent.agent_name} />
        </h2>
        <div class="confirm-body">
          <p class="shown-key">
            <code>{apiKey}</code>
            <CopyButton value={apiKey} what="key" />
          </p>
          <p>
            <strong>It is shown only once.</strong> Copy it now and pass it on safely. Only its first
            characters are kept.
          </p>
        </div>
        <div class="confirm-buttons">
          <button type="submit" class="button primary">
            Done
          </button>
        </div>
      </form>
    </Modal>
  );
}
