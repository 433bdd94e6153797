// Choice in the dialogs that delete all events of one agent: to deactivate it, too, so that it cannot create them again.
import { useRef, useState } from 'preact/hooks';
import { updateAgent } from '../api.ts';
import { CheckChoice } from '../components/check-choice.tsx';

export interface Deactivation {
  readonly isChosen: boolean;
  readonly choose: (isChosen: boolean) => void;
  /** Deactivates the agent if that was chosen. To be called before the delete. Throws ApiError. */
  readonly run: () => Promise<void>;
  /** Whether the agent was deactivated here, even if the delete failed afterwards. */
  readonly isDone: () => boolean;
  /** Makes the agent active again if it was deactivated here. Throws ApiError. */
  readonly revert: () => Promise<void>;
}

/** Undefined: there is no single agent that can be deactivated. */
export function useDeactivation(agentId: string | undefined): Deactivation {
  const [isChosen, choose] = useState(false);
  const done = useRef(false);
  const set = async (is_active: boolean) => {
    if (agentId !== undefined) await updateAgent(agentId, { is_active });
  };
  return {
    isChosen: isChosen && agentId !== undefined,
    choose,
    run: async () => {
      if (!isChosen || done.current) return;
      await set(false);
      done.current = true;
    },
    isDone: () => done.current,
    revert: async () => {
      if (done.current) await set(true);
    },
  };
}

export function AlsoDeactivate({ deactivation: { isChosen, choose } }: { deactivation: Deactivation }) {
  return (
    <CheckChoice
      label="Also deactivate the agent"
      hint="Its keys stop working first, so that it creates no more events."
      isChosen={isChosen}
      onChoose={choose}
    />
  );
}
