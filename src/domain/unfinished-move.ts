// The mark of a store into which a move is unfinished, and the error for opening it. Separate from transfer.ts, which every thread
// would load otherwise.
import { StartError } from './errors.ts';

/** Setting of a store while a move to it is unfinished; its value names the source. The move does not copy it. */
export const UNFINISHED_MOVE = 'unfinished_move';

/** Error for a store with an unfinished move. */
export function unfinishedMove(place: string, source: string): StartError {
  return new StartError(
    `${place} holds a part of the data of ${source}: a move was not finished. Run the same "move" again to finish it.`,
  );
}
