// A dialog on top of the page, for as long as it is rendered. When it goes, the focus returns to where it was.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface ModalProps {
  class: string;
  /** The id of the element that names it. */
  labelledBy: string;
  /** While something is under way it cannot be left. */
  isLocked?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

export function Modal({ class: className, labelledBy, isLocked = false, onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  useLayoutEffect(() => {
    const element = dialog.current!;
    const opener = document.activeElement;
    element.showModal();
    return () => {
      isGone.current = true;
      element.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  const leave = () => {
    if (!isLocked) onClose();
  };
  // A browser may close a dialog against its page's will, such as when Esc is pressed again and again.
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
