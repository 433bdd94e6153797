// Keys of an agent, each with a button to revoke it, and a button for a new one.
import { useState } from 'preact/hooks';
import { type AgentDetails, type AgentKey, revokeKey } from '../api.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { type Column, ListTable } from '../components/list-table.tsx';
import { Empty } from '../components/states.tsx';
import { Text } from '../components/text.tsx';
import { Day, RelativeTime } from '../components/time.tsx';
import { countOf } from '../format.ts';
import { notify } from '../toasts.ts';
import { useFocusReturn } from '../use-focus-return.ts';
import { NewKeyDialog } from './new-key.tsx';

const COLUMNS: readonly Column[] = [
  { label: 'Key', class: 'column-key' },
  { label: 'Created', class: 'column-created from-medium' },
  { label: 'Last used', class: 'column-used from-medium' },
  { label: 'Expires', class: 'column-expires from-medium' },
  { label: 'Action', class: 'column-act', header: <span class="visually-hidden">Action</span> },
];

interface AgentKeysProps {
  /** Undefined while it loads. */
  agent: AgentDetails | undefined;
  isLoading: boolean;
  onChanged: () => void;
}

export function AgentKeys({ agent, isLoading, onChanged }: AgentKeysProps) {
  const [chosen, setChosen] = useState<AgentKey>();
  const [isReplacing, setReplacing] = useState(false);
  const { heading, expect } = useFocusReturn<HTMLParagraphElement>(isLoading);
  const keys = agent?.keys;
  const finish = () => {
    setChosen(undefined);
    setReplacing(false);
    expect(); // the button that had the focus disappears with its key
    onChanged();
  };
  return (
    <>
      <div class="keys-head">
        <p class="list-total" tabIndex={-1} ref={heading}>
          {keys ? countOf(keys.length, 'key') : '\u00a0'}
        </p>
        <button type="button" class="button" disabled={!agent} onClick={() => setReplacing(true)}>
          New key
        </button>
      </div>
      <div class="card" aria-busy={!agent}>
        {keys?.length === 0 ? (
          <Empty icon="inbox" title="No keys">
            <p>This agent has no key that works. It can do nothing until it gets a new key.</p>
          </Empty>
        ) : (
          <ListTable
            class="keys"
            caption="Keys"
            columns={COLUMNS}
            rows={keys}
            isLoading={!agent}
            placeholders={2}
          >
            {(key) => (
              <KeyRow key={key.prefix + key.created_at} apiKey={key} onRevoke={() => setChosen(key)} />
            )}
          </ListTable>
        )}
      </div>
      {agent && isReplacing && (
        <NewKeyDialog
          agent={agent}
          onDone={finish}
          onClose={() => setReplacing(false)}
          onGone={() => {
            notify('info', `${agent.agent_name} was already deleted by someone else.`);
            finish();
          }}
        />
      )}
      {agent && chosen && (
        <RevokeDialog
          agent={agent}
          apiKey={chosen}
          onDone={finish}
          onClose={() => setChosen(undefined)}
          onGone={() => {
            notify('info', `The key ${chosen.prefix}… had already ended.`);
            finish();
          }}
        />
      )}
    </>
  );
}

function KeyRow({ apiKey, onRevoke }: { apiKey: AgentKey; onRevoke: () => void }) {
  const { prefix, created_at, last_used_at, expires_at } = apiKey;
  const lastUsed = last_used_at ? <RelativeTime at={last_used_at} /> : <span class="faint">never</span>;
  return (
    <tr>
      <td class="column-key">
        <code>{prefix}…</code>
        <span class="second until-medium">
          {last_used_at ? <>used {lastUsed}</> : 'never used'}
          {expires_at && (
            <>
              {' '}
              · ends <RelativeTime at={expires_at} />
            </>
          )}
        </span>
      </td>
      <td class="column-created from-medium">
        <Day at={created_at} />
      </td>
      <td class="column-used from-medium">{lastUsed}</td>
      <td class="column-expires from-medium">
        {expires_at ? <RelativeTime at={expires_at} /> : <span class="faint">never</span>}
      </td>
      <td class="column-act">
        <button type="button" class="button risky" onClick={onRevoke}>
          Revoke<span class="visually-hidden"> {prefix}</span>
        </button>
      </td>
    </tr>
  );
}

interface RevokeDialogProps {
  agent: AgentDetails;
  apiKey: AgentKey;
  onDone: () => void;
  onGone: () => void;
  onClose: () => void;
}

function RevokeDialog({ agent, apiKey, ...rest }: RevokeDialogProps) {
  const action = async () => {
    await revokeKey(agent.id, apiKey.prefix);
    notify('done', `Revoked the key ${apiKey.prefix}… of ${agent.agent_name}.`);
  };
  return (
    <ConfirmDialog
      title="Revoke key"
      confirm="Revoke key"
      pending="Revoking…"
      isDanger
      action={action}
      {...rest}
    >
      <p>
        The key <code>{apiKey.prefix}…</code> of{' '}
        <strong>
          <Text value={agent.agent_name} />
        </strong>{' '}
        will stop working at once, and the grants that were made with it end. Its events will stay. This
        cannot be undone.
      </p>
      {agent.keys.length === 1 && <p>It is the only key: without it, the agent can do nothing more.</p>}
    </ConfirmDialog>
  );
}
