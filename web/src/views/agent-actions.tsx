// Administrator actions on an agent, each with a confirmation dialog that explains its effect.
import { useId, useState } from 'preact/hooks';
import type { Agent, AgentUpdate } from '../api.ts';
import { deleteAgent, deleteAgentEvents, updateAgent } from '../api.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { MoreMenu } from '../components/more-menu.tsx';
import { Text, visibleText } from '../components/text.tsx';
import { returnToList } from '../router.ts';
import { notify } from '../toasts.ts';
import { findDeletion } from '../undo.ts';
import { AlsoDeactivate, useDeactivation } from './also-deactivate.tsx';
import { CountFailure, CurrentCount, useCurrentCount } from './current-count.tsx';
import { UndoChoice, useUndoChoice } from './undo-choice.tsx';

type Action = 'tier' | 'active' | 'events' | 'agent';

interface ActionProps {
  agent: Agent;
  /** Called when the agent must be reloaded. */
  onChanged: () => void;
}

export function AgentActions({ agent, onChanged }: ActionProps) {
  const [open, setOpen] = useState<Action>();
  const close = () => setOpen(undefined);
  const shared = {
    agent,
    onClose: close,
    onDone: () => {
      close();
      onChanged();
    },
    onGone: () => {
      close();
      notify('info', `${agent.agent_name} was already deleted by someone else.`);
      onChanged();
    },
  };
  return (
    <fieldset class="actions">
      <legend class="visually-hidden">Actions</legend>
      <button type="button" class="button" onClick={() => setOpen('tier')}>
        Change tier
      </button>
      <button type="button" class="button" onClick={() => setOpen('active')}>
        {agent.is_active ? 'Deactivate' : 'Reactivate'}
      </button>
      <MoreMenu
        label="More actions"
        items={[
          {
            label: 'Delete all events',
            isDisabled: agent.event_count === 0,
            onChoose: () => setOpen('events'),
          },
          { label: 'Delete agent', onChoose: () => setOpen('agent') },
        ]}
      />
      {open === 'tier' && <TierDialog {...shared} />}
      {open === 'active' && <ActiveDialog {...shared} />}
      {open === 'events' && <EventsDialog {...shared} />}
      {open === 'agent' && <AgentDialog {...shared} />}
    </fieldset>
  );
}

interface DialogProps {
  agent: Agent;
  onDone: () => void;
  onGone: () => void;
  onClose: () => void;
}

const TIERS: readonly [tier: NonNullable<AgentUpdate['tier']>, meaning: string][] = [
  ['read', 'searches and reads events'],
  ['readwrite', 'also creates and changes its own events'],
  ['admin', 'like readwrite, with a larger quota'],
];

function TierDialog({ agent, ...rest }: DialogProps) {
  const [tier, setTier] = useState(agent.tier);
  const action = async () => {
    await updateAgent(agent.id, { tier: tier as NonNullable<AgentUpdate['tier']> });
    notify('done', `The tier of ${agent.agent_name} is now ${tier}.`);
  };
  return (
    <ConfirmDialog
      title="Change tier"
      confirm="Change tier"
      pending="Changing…"
      isReady={tier !== agent.tier}
      action={action}
      {...rest}
    >
      <p>
        The tier decides what <Name agent={agent} /> may do. A change takes effect with its next request. Its
        keys and events stay.
      </p>
      <fieldset class="choices">
        <legend class="visually-hidden">Tier</legend>
        {TIERS.map(([value, meaning]) => (
          <label key={value}>
            <input
              type="radio"
              name="tier"
              value={value}
              checked={tier === value}
              onChange={() => setTier(value)}
            />
            <span>
              {value}
              <small>{meaning}</small>
            </span>
          </label>
        ))}
      </fieldset>
    </ConfirmDialog>
  );
}

function ActiveDialog({ agent, ...rest }: DialogProps) {
  const isActive = agent.is_active;
  const action = async () => {
    await updateAgent(agent.id, { is_active: !isActive });
    notify('done', `${agent.agent_name} is ${isActive ? 'deactivated' : 'active again'}.`);
  };
  return (
    <ConfirmDialog
      title={isActive ? 'Deactivate agent' : 'Reactivate agent'}
      confirm={isActive ? 'Deactivate' : 'Reactivate'}
      pending={isActive ? 'Deactivating…' : 'Reactivating…'}
      isDanger={isActive}
      action={action}
      {...rest}
    >
      {isActive ? (
        <p>
          The keys and grants of <Name agent={agent} /> will stop working at once. Its events will stay, and
          it can be reactivated at any time.
        </p>
      ) : (
        <p>
          The keys and grants of <Name agent={agent} /> will work again at once.
        </p>
      )}
    </ConfirmDialog>
  );
}

function EventsDialog({ agent, ...rest }: DialogProps) {
  const count = useCurrentCount(agent, rest.onGone);
  const undoChoice = useUndoChoice();
  const deactivation = useDeactivation(agent.is_active ? agent.id : undefined);
  const { isChosen } = deactivation;
  const action = async () => {
    await deactivation.run();
    await deleteAgentEvents(agent.id, undoChoice.isForGood);
    notify(
      'done',
      `Deleted all events of ${agent.agent_name}${isChosen ? ', and deactivated it' : ''}.`,
      undoChoice.undo(() => findDeletion('delete_agent_events', agent.id), deactivation.revert),
    );
  };
  return (
    <ConfirmDialog
      title="Delete all events"
      confirm={`Delete ${count.text ?? 'events'}${isChosen ? ' and deactivate' : ''}`}
      pending="Deleting…"
      isDanger
      isReady={count.text !== undefined}
      action={action}
      {...rest}
      onClose={() => (deactivation.isDone() ? rest.onDone() : rest.onClose())}
    >
      <p>
        All <CurrentCount count={count} /> of <Name agent={agent} /> will be deleted, upcoming and ended. The
        agent and its keys will stay.
      </p>
      {agent.is_active && <AlsoDeactivate deactivation={deactivation} />}
      <UndoChoice undoChoice={undoChoice} />
      <CountFailure count={count} />
    </ConfirmDialog>
  );
}

function AgentDialog({ agent, onDone: _, ...rest }: DialogProps) {
  const [typed, setTyped] = useState('');
  const id = useId();
  const count = useCurrentCount(agent, rest.onGone);
  // A name may consist of invisible characters only.
  const expected = visibleText(agent.agent_name) || agent.id;
  const undoChoice = useUndoChoice();
  // What can be restored needs no such care.
  const isConfirmed =
    undoChoice.isFinal === false || (undoChoice.isFinal === true && visibleText(typed) === expected);
  const action = async () => {
    await deleteAgent(agent.id, undoChoice.isForGood);
    notify(
      'done',
      `Deleted ${agent.agent_name}, its keys and all its events.`,
      undoChoice.undo(() => findDeletion('delete_agent', agent.id)),
    );
  };
  return (
    <ConfirmDialog
      title="Delete agent"
      confirm="Delete agent"
      pending="Deleting…"
      isDanger
      isReady={count.text !== undefined && isConfirmed}
      action={action}
      onDone={returnToList}
      {...rest}
    >
      <p>
        <Name agent={agent} /> will be deleted: the agent, its keys and its <CurrentCount count={count} />.
      </p>
      <UndoChoice undoChoice={undoChoice} />
      <CountFailure count={count} />
      {undoChoice.isFinal && (
        <>
          <label for={id}>
            Type{' '}
            <strong>
              <Text value={expected} />
            </strong>{' '}
            to confirm
          </label>
          <input
            id={id}
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </>
      )}
    </ConfirmDialog>
  );
}

function Name({ agent }: { agent: Agent }) {
  return (
    <strong>
      <Text value={agent.agent_name} />
    </strong>
  );
}
