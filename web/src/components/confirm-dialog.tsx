// Dialog that asks for confirmation, runs the action once and shows its error. The caller reports success.
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api.ts';
import { Modal } from './modal.tsx';
import { RequestId } from './states.tsx';

interface ConfirmDialogProps {
  title: string;
  /** Label of the confirm button. */
  confirm: string;
  /** Label of the confirm button while the action runs. */
  pending: string;
  /** Label of the other button. */
  cancel?: string;
  isDanger?: boolean;
  /** Whether all required input has been given. */
  isReady?: boolean;
  action: () => Promise<void>;
  /** The other button calls it while the action runs. Undefined: the action cannot be stopped. */
  onStop?: (() => void) | undefined;
  onDone: () => void;
  /** Called if the target no longer exists (404). */
  onGone: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, confirm, pending, cancel = 'Cancel', isDanger = false, isReady = true, children } = props;
  const { onStop } = props;
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<ApiError>();
  const sent = useRef(false);
  const form = useRef<HTMLFormElement>(null);
  const id = useId();

  // Focus the first input that must be filled in if there is one, otherwise Cancel: before the dialog is painted, so that the focus
  // does not move back under a quick keyboard.
  useLayoutEffect(() => {
    form.current
      ?.querySelector<HTMLElement>('input:checked, input:not([type=radio], [type=checkbox]), [data-cancel]')
      ?.focus();
  }, []);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (sent.current || !isReady) return;
    sent.current = true;
    setPending(true);
    setError(undefined);
    try {
      await props.action();
      props.onDone();
    } catch (caught) {
      const shown = caught instanceof ApiError ? caught : new ApiError(0, 'FAULT', String(caught));
      if (shown.status === 404) props.onGone();
      else setError(shown);
      sent.current = false;
      setPending(false);
    }
  };
  return (
    <Modal class="confirm" labelledBy={id} isLocked={isPending} onClose={props.onClose}>
      <form ref={form} onSubmit={submit}>
        <h2 id={id}>{title}</h2>
        <div class="confirm-body">{children}</div>
        <div role="alert">
          {error && (
            <div class="confirm-error">
              <p>{error.message}</p>
              {error.requestId && <RequestId id={error.requestId} />}
            </div>
          )}
        </div>
        <div class="confirm-buttons">
          <button
            type="button"
            class="button"
            data-cancel
            aria-disabled={isPending && !onStop}
            onClick={() => (isPending ? onStop?.() : props.onClose())}
          >
            {cancel}
          </button>
          <button
            type="submit"
            class={isDanger ? 'button danger' : 'button primary'}
            disabled={!isReady}
            aria-disabled={isPending}
          >
            {isPending ? pending : confirm}
          </button>
        </div>
      </form>
    </Modal>
  );
}
