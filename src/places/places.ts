// The names of places, loaded from the file beside this one when they are first needed: most of a service's life may pass without them,
// and unpacking takes a tenth of a second on another thread.
import { readFile } from 'node:fs/promises';
import { AppError } from '../domain/errors.ts';
import type { Places } from '../domain/places.ts';
import { Gazetteer } from './gazetteer.ts';
import { decodePlaces, unpackPlaces } from './place-file.ts';

const FILE = new URL('./places.zst', import.meta.url);

/** Requests that come while the names are loading wait for the same load. A failed load is tried again with the next request. */
export function lazyPlaces(file: URL = FILE): Places {
  let loading: Promise<Gazetteer> | undefined;
  const load = () => {
    loading ??= loadGazetteer(file).catch((cause) => {
      loading = undefined;
      const message =
        'Names of places cannot be looked up at the moment. Send coordinates instead, or retry.';
      throw new AppError('UNAVAILABLE', message, { cause });
    });
    return loading;
  };
  return {
    find: async (query) => (await load()).find(query),
    resolve: async (text) => (await load()).resolve(text),
  };
}

async function loadGazetteer(file: URL): Promise<Gazetteer> {
  return new Gazetteer(decodePlaces(await unpackPlaces(await readFile(file))));
}
