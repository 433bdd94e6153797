// Grants of an agent: the clients that may act for it, each with a button to end that.
import { useState } from 'preact/hooks';
import { type AgentDetails, endGrant, type Grant, type GrantList } from '../api.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { type Column, ListTable } from '../components/list-table.tsx';
import { Empty, Failure } from '../components/states.tsx';
import { Text, visibleText } from '../components/text.tsx';
import { Day, RelativeTime } from '../components/time.tsx';
import { countOf } from '../format.ts';
import { notify } from '../toasts.ts';
import { useFocusReturn } from '../use-focus-return.ts';
import type { Loaded } from '../use-load.ts';

const COLUMNS: readonly Column[] = [
  { label: 'Client', class: 'column-client' },
  { label: 'May', class: 'column-may from-medium' },
  { label: 'Created', class: 'column-created from-medium' },
  { label: 'Last used', class: 'column-used from-medium' },
  { label: 'Action', class: 'column-act', header: <span class="visually-hidden">Action</span> },
];

interface AgentGrantsProps {
  /** Undefined while it loads. */
  agent: AgentDetails | undefined;
  loaded: Loaded<GrantList>;
  onChanged: () => void;
}

export function AgentGrants({ agent, loaded, onChanged }: AgentGrantsProps) {
  const [chosen, setChosen] = useState<Grant>();
  const { data, error, isLoading, reload } = loaded;
  const { heading, expect } = useFocusReturn<HTMLParagraphElement>(isLoading);
  const grants = data?.grants;
  const finish = () => {
    setChosen(undefined);
    expect(); // the button that had the focus disappears with its grant
    onChanged();
  };
  return (
    <>
      <div class="keys-head">
        <p class="list-total" tabIndex={-1} ref={heading}>
          {grants ? countOf(grants.length, 'grant') : '\u00a0'}
        </p>
      </div>
      <div class="card" aria-busy={isLoading}>
        {error ? (
          <Failure error={error} actionLabel="Try again" onAction={reload} />
        ) : grants?.length === 0 ? (
          <Empty icon="inbox" title="No grants">
            <p>No person has allowed a client to act for this agent.</p>
          </Empty>
        ) : (
          <ListTable
            class="keys grants"
            caption="Grants"
            columns={COLUMNS}
            rows={grants}
            isLoading={isLoading}
            placeholders={2}
          >
            {(grant) => <GrantRow key={grant.grant_id} grant={grant} onEnd={() => setChosen(grant)} />}
          </ListTable>
        )}
      </div>
      {agent && chosen && (
        <EndDialog
          agent={agent}
          grant={chosen}
          onDone={finish}
          onClose={() => setChosen(undefined)}
          onGone={() => {
            notify('info', `The grant of ${nameOf(chosen)} had already ended.`);
            finish();
          }}
        />
      )}
    </>
  );
}

/** As text without markup. What the client calls itself may be blank. */
function nameOf({ client }: Grant): string {
  return visibleText(client.name) || 'a client without a name';
}

/** What it may do, as the end of a sentence. */
function rightsOf({ scopes }: Grant): string {
  return scopes.includes('publish') ? 'read and publish' : 'read only';
}

function GrantRow({ grant, onEnd }: { grant: Grant; onEnd: () => void }) {
  const { client, created_at, last_used_at } = grant;
  return (
    <tr>
      <td class="column-client">
        <Text value={client.name} />
        <span class="second">{client.host ?? 'a program or app'}</span>
        <span class="second until-medium">
          {rightsOf(grant)} · used <RelativeTime at={last_used_at} />
        </span>
      </td>
      <td class="column-may from-medium">{rightsOf(grant)}</td>
      <td class="column-created from-medium">
        <Day at={created_at} />
      </td>
      <td class="column-used from-medium">
        <RelativeTime at={last_used_at} />
      </td>
      <td class="column-act">
        <button type="button" class="button risky" onClick={onEnd}>
          End<span class="visually-hidden"> the grant of {nameOf(grant)}</span>
        </button>
      </td>
    </tr>
  );
}

interface EndDialogProps {
  agent: AgentDetails;
  grant: Grant;
  onDone: () => void;
  onGone: () => void;
  onClose: () => void;
}

function EndDialog({ agent, grant, ...rest }: EndDialogProps) {
  const { client, grant_id } = grant;
  const action = async () => {
    await endGrant(agent.id, grant_id);
    notify('done', `Ended the grant of ${nameOf(grant)} to act for ${agent.agent_name}.`);
  };
  return (
    <ConfirmDialog title="End grant" confirm="End grant" pending="Ending…" isDanger action={action} {...rest}>
      <p>
        <strong>
          <Text value={client.name} />
        </strong>{' '}
        ({client.host ?? 'a program or app'}) can no longer act for{' '}
        <strong>
          <Text value={agent.agent_name} />
        </strong>
        , at once. Its events will stay. A person who has a key of the agent can sign in again.
      </p>
    </ConfirmDialog>
  );
}
