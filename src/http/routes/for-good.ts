// The query parameter `for_good` of deletes by administrators.
import { DeleteParameters, readForGood } from '../../domain/undo.ts';
import { queryReader } from '../request/query.ts';

export const forGoodIn = queryReader(DeleteParameters, readForGood);
