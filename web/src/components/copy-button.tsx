// Button that copies a value. Browsers allow this only on https and localhost; otherwise there is no button.
import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

const SHOWN_MS = 2_000;

export function CopyButton({ value, what }: { value: string; what: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  if (!navigator.clipboard) return null;
  const copy = () =>
    navigator.clipboard.writeText(value).then(
      () => setCopied(true),
      () => {},
    );
  return (
    <button
      type="button"
      class="icon-button small"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={copy}
    >
      <Icon name={copied ? 'check' : 'copy'} />
      <span class="visually-hidden" role="status">
        {copied ? 'Copied' : ''}
      </span>
    </button>
  );
}
