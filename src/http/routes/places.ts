// The endpoint that finds places by their names.
import { PlacesParameters, PlacesResponse, readPlaces } from '../../domain/places.ts';
import { findPlaces } from '../../usecases/places.ts';
import { queryReader } from '../request/query.ts';
import { endpoint, type Route } from './endpoint.ts';

const readParameters = queryReader(PlacesParameters, (values) => readPlaces(values, 'query'));

const places = endpoint({
  operationId: 'findPlaces',
  tag: 'Places',
  summary: 'Find places by name',
  description:
    'Returns towns and districts with this name, in any language, then those whose names begin with it. A search for events takes such a name as place. Place names: GeoNames, CC BY 4.0.',
  access: 'public',
  query: PlacesParameters,
  response: PlacesResponse,
  read: ({ query }) => readParameters(query),
  // Tens of thousands of names begin with the first letters of others: looking at all of them takes up to 2 ms.
  isExpensive: () => true,
  handle: async ({ context }, query) => ({ places: await findPlaces(context, query) }),
});

export const routes: readonly Route[] = [['GET', '/v1/places', places]];
