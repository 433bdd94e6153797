// "Not found" page for unknown URLs and agents.
import { Icon } from '../components/icon.tsx';
import { Link } from '../components/link.tsx';
import { useTitle } from '../use-title.ts';

export function MissingView({ what = 'There is no page at this URL.' }: { what?: string }) {
  useTitle('Not found');
  return (
    <div class="gate">
      <span class="gate-icon">
        <Icon name="search" />
      </span>
      <h1>Not found</h1>
      <p>{what}</p>
      <Link href="/admin" class="button wide">
        All agents
      </Link>
    </div>
  );
}
