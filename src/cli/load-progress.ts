// What is shown while `serve` loads: how many events are read, then that the index is built. Of that the store reports
// nothing, so the last line must not look like a bar that hangs at its end.
import type { OnProgress } from '../service.ts';
import { grouped, type Progress } from './progress.ts';

export function showLoading(progress: Progress): OnProgress {
  let isRead = false;
  return (done, total) => {
    if (isRead) return;
    isRead = done === total;
    if (isRead) progress.milestone(`loaded ${grouped(total)} events, building the index`);
    else progress.update(done, done / total);
  };
}
