// What a view shows in place of its content: nothing there, nothing found, or a failure.
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
  /** On the button. */
  wayOut: string;
  onWayOut: () => void;
}

/** A failure, with the name by which the log knows it. */
export function Failure({ error, wayOut, onWayOut }: FailureProps) {
  return (
    <div class="empty" role="alert">
      <Icon name="warning" />
      <p class="empty-title">This could not be loaded</p>
      <p>{error.message}</p>
      <p>
        <button type="button" class="button" onClick={onWayOut}>
          {wayOut}
        </button>
      </p>
      {error.requestId && <RequestId id={error.requestId} />}
    </div>
  );
}

export function RequestId({ id }: { id: string }) {
  return (
    <p class="request-id">
      Request <code>{id}</code>
      <CopyButton value={id} what="request id" />
    </p>
  );
}

/** Rows in the shape of those to come. */
export function SkeletonRows({
  columns,
  rows = 12,
}: {
  columns: readonly (string | undefined)[];
  rows?: number;
}) {
  return (
    <>
      {Array.from({ length: rows }, (_row, row) => (
        <tr key={row} class="skeleton-row">
          {columns.map((className, column) => (
            <td key={column} class={className}>
              <span class="skeleton" />
            </td>
          ))}
        </tr>
      ))}
    </>
  );
}
