// Modal dialog, open as long as it is rendered. On closing, the focus returns to where it was before.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface ModalProps {
  class: string;
  /** ID of the element with the dialog's title. */
  labelledBy: string;
  /** Prevents closing while an action runs. */
  isLocked?: boolean;
  onClose: () => void;
  /** Gets the focus on closing, if it is there, instead of the element that had it before. */
  focusAfter?: string;
  children: ComponentChildren;
}

export function Modal({ class: className, labelledBy, isLocked = false, ...props }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { onClose, children } = props;
  const isGone = useRef(false);
  const focusAfter = useRef(props.focusAfter);
  focusAfter.current = props.focusAfter;
  useLayoutEffect(() => {
    const element = dialog.current!;
    const opener = document.activeElement;
    element.showModal();
    return () => {
      isGone.current = true;
      element.close();
      const next = focusAfter.current === undefined ? null : document.getElementById(focusAfter.current);
      if (next) next.focus();
      else if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  const leave = () => {
    if (!isLocked) onClose();
  };
  // Browsers may close a dialog even if the page prevents it, e.g. after Esc is pressed repeatedly.
  const follow = () => {
    if (isGone.current) return;
    if (isLocked) dialog.current!.showModal();
    else onClose();
  };
  return (
    <dialog
      ref={dialog}
      class={className}
      aria-labelledby={labelledBy}
      closedby={isLocked ? 'none' : 'closerequest'}
      onCancel={(event) => {
        if (!event.cancelable) return;
        event.preventDefault();
        leave();
      }}
      onClose={follow}
      onPointerDown={(event) => {
        if (event.target === dialog.current) leave();
      }}
    >
      <div class="dialog-inside">{children}</div>
    </dialog>
  );
}
