// Progress of `serve` while it loads: events read, then a line for the index build. The store reports no progress of that
// build, so a line replaces the bar: a full bar would look stuck.
import type { OnProgress } from '../engines.ts';
import { grouped, type Progress } from './progress.ts';

export function showLoading(progress: Progress): OnProgress {
  let areEventsRead = false;
  return (done, total) => {
    if (areEventsRead) return;
    areEventsRead = done === total;
    if (areEventsRead) progress.milestone(`loaded ${grouped(total)} events, building the index`);
    else progress.update(done, done / total);
  };
}
