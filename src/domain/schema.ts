// JSON Schemas, written as with TypeBox and with its types. TypeBox's own functions are not used: every thread of a service
// would load 373 modules for what these few lines do, which more than doubles the time that a thread takes to start.
import type TypeBox from 'typebox';

type Used =
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'String'
  | 'Union'
  | 'Unsafe';

/** Properties with this hidden mark may be absent from their object. */
const OPTIONAL = '~optional';

const Type = {
  Array: (items: object, options?: object) => ({ type: 'array', items, ...options }),
  Boolean: (options?: object) => ({ type: 'boolean', ...options }),
  Integer: (options?: object) => ({ type: 'integer', ...options }),
  Null: (options?: object) => ({ type: 'null', ...options }),
  Number: (options?: object) => ({ type: 'number', ...options }),
  Object: (properties: Readonly<Record<string, object>>, options?: object) => {
    const required = Object.keys(properties).filter((name) => !(OPTIONAL in properties[name]!));
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
  },
  Optional: (schema: object) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  String: (options?: object) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly object[], options?: object) => ({ anyOf, ...options }),
  Unsafe: (schema: object) => ({ ...schema }),
} as unknown as Pick<typeof TypeBox, Used>;

export default Type;

/** Shapes with this hidden mark have a name in the API description. */
const NAME = '~name';

/** Names shapes, each as its constant: the API description refers to them, and writes all others where they are used. */
export function nameShapes(shapes: Readonly<Record<string, object>>): void {
  for (const [name, shape] of Object.entries(shapes)) Object.defineProperty(shape, NAME, { value: name });
}

export function nameOf(shape: object): string | undefined {
  return (shape as { [NAME]?: string })[NAME];
}
