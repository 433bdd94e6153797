// The command line of `import`: the file and its format, the agent, and what items that lack a field get.
import { parseArgs } from 'node:util';
import { readRegistration } from '../domain/agent.ts';
import { readEventUpdate } from '../domain/event-input.ts';
import type { DefaultFields } from '../domain/formats/default-fields.ts';
import { formatOfFile, IMPORT_FORMATS, type ImportFormat } from './import-formats.ts';
import { UsageError } from './usage-error.ts';

export interface ImportOptions {
  readonly file: string;
  readonly format: ImportFormat;
  /** Whether the format is only what the name of the file says. */
  readonly isFormatGuessed: boolean;
  readonly given: DefaultFields;
  /** Undefined: the key of an existing agent comes on standard input. */
  readonly newAgent: { readonly email: string; readonly agent_name: string } | undefined;
}

const text = { type: 'string' } as const;
const GIVEN = {
  'event-type': text,
  audience: text,
  timezone: text,
  'location-name': text,
  address: text,
  lat: text,
  lng: text,
};

/** Throws UsageError. */
export function readImportOptions(args: string[], nowMs: number): ImportOptions {
  const { positionals, values } = parse(args);
  const [file, ...rest] = positionals;
  if (!file || rest.length > 0) throw new UsageError('import needs one FILE, or - for standard input.');
  const name = values.format ?? formatOfFile(file);
  const format = Object.hasOwn(IMPORT_FORMATS, name) ? IMPORT_FORMATS[name] : undefined;
  if (!format) throw new UsageError(`--format must be one of ${Object.keys(IMPORT_FORMATS).join(', ')}.`);
  const given = readGiven(values, nowMs);
  if (!format.mayLack && Object.keys(given).length > 0) {
    throw new UsageError(
      'Options for missing fields are for geojson and ics (--format says it): JSON lines say everything themselves.',
    );
  }
  const isFormatGuessed = values.format === undefined;
  return { file, format, isFormatGuessed, given, newAgent: readAgent(file, values) };
}

function parse(args: string[]) {
  const options = {
    email: text,
    name: text,
    'key-stdin': { type: 'boolean' },
    format: text,
    ...GIVEN,
  } as const;
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

type Values = ReturnType<typeof parse>['values'];

function readAgent(file: string, values: Values): ImportOptions['newAgent'] {
  const isNew = values.email !== undefined || values.name !== undefined;
  if (isNew === (values['key-stdin'] ?? false)) {
    throw new UsageError(
      'import needs --email and --name for a new agent, or --key-stdin for an existing one.',
    );
  }
  if (!isNew) {
    if (file === '-') throw new UsageError('With --key-stdin the events cannot come on standard input too.');
    return undefined;
  }
  try {
    return readRegistration({ email: values.email, agent_name: values.name });
  } catch (error) {
    throw new UsageError(`--email and --name need an address and a name: ${(error as Error).message}`);
  }
}

/** By the rules of a change, which knows the same fields. */
function readGiven(values: Values, nowMs: number): DefaultFields {
  const entries = Object.keys(GIVEN).flatMap((option) => {
    const value = values[option as keyof typeof GIVEN];
    if (value === undefined) return [];
    const isNumber = option === 'lat' || option === 'lng';
    return [[option.replace('-', '_'), isNumber ? readDegrees(option, value) : value]];
  });
  const given = Object.fromEntries(entries) as DefaultFields;
  if ((given.lat === undefined) !== (given.lng === undefined)) {
    throw new UsageError('--lat and --lng come together.');
  }
  try {
    return readEventUpdate(given, nowMs);
  } catch (error) {
    const message = (error as Error).message.replaceAll(/body\.(\w+)/g, (_, name) => optionFor(name));
    throw new UsageError(message);
  }
}

function readDegrees(option: string, value: string): number {
  const degrees = Number(value);
  if (value.trim() === '' || !Number.isFinite(degrees)) {
    throw new UsageError(`--${option} must be a number such as --${option}=52.5264.`);
  }
  return degrees;
}

function optionFor(field: string): string {
  return `--${field.replace('_', '-')}`;
}

/** Said of a field that is missing. */
export function hintFor(field: string): string {
  const option = optionFor(field);
  return Object.hasOwn(GIVEN, option.slice(2)) ? ` (${option} gives it to items without one)` : '';
}
