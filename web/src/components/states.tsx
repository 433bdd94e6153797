// Shown instead of content: an empty state or an error.
import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api.ts';
import { CopyButton } from './copy-button.tsx';
import { Icon, type IconName } from './icon.tsx';

interface EmptyProps {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

interface FailureProps {
  error: ApiError;
  /** Label of the button. */
  actionLabel: string;
  onAction: () => void;
}

/** An error, with its request ID for the log. */
export function Failure({ error, actionLabel, onAction }: FailureProps) {
  return (
    <div class="empty" role="alert">
      <Icon name="warning" />
      <p class="empty-title">This could not be loaded</p>
      <p>{error.message}</p>
      <p>
        <button type="button" class="button" onClick={onAction}>
          {actionLabel}
        </button>
      </p>
      {error.requestId && <RequestId id={error.requestId} />}
    </div>
  );
}

interface ShortFailureProps {
  /** A sentence. */
  what: string;
  error: ApiError;
  onRetry: () => void;
}

/** An error within a text: what failed, why, and a button to try again. */
export function ShortFailure({ what, error, onRetry }: ShortFailureProps) {
  return (
    <>
      {what} {error.message}{' '}
      <button type="button" class="link-button" onClick={onRetry}>
        Try again
      </button>
    </>
  );
}

export function RequestId({ id }: { id: string }) {
  return (
    <p class="request-id">
      Request <code>{id}</code>
      <CopyButton value={id} what="request ID" />
    </p>
  );
}
