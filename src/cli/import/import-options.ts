// Command-line options of `import`: the file and its format, the agent, and default values for missing fields.
import { readRegistration } from '../../domain/agent.ts';
import { readEventUpdate } from '../../domain/events/event-input.ts';
import type { DefaultFields } from '../../domain/events/formats/default-fields.ts';
import { readArguments, UsageError } from '../command.ts';
import { formatOfFile, IMPORT_FORMATS, type ImportFormat } from './import-formats.ts';

export interface ImportOptions {
  readonly file: string;
  readonly format: ImportFormat;
  /** Whether the format was guessed from the file name. */
  readonly isFormatGuessed: boolean;
  readonly defaults: DefaultFields;
  /** Undefined: read the key of an existing agent from standard input. */
  readonly newAgent: { readonly email: string; readonly agent_name: string } | undefined;
  /** Where to write the key of the new agent. Undefined: standard output. */
  readonly keyFile: string | undefined;
}

const text = { type: 'string' } as const;
const DEFAULT_OPTIONS = {
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
  const defaults = readDefaults(values, nowMs);
  if (!format.takesDefaults && Object.keys(defaults).length > 0) {
    throw new UsageError(
      'Options for missing fields work only with GeoJSON and iCalendar. Remove them, or set --format to geojson or ics.',
    );
  }
  const isFormatGuessed = values.format === undefined;
  const newAgent = readAgent(file, values);
  return { file, format, isFormatGuessed, defaults, newAgent, keyFile: readKeyFile(values) };
}

function parse(args: string[]) {
  const options = {
    email: text,
    name: text,
    'key-stdin': { type: 'boolean' },
    'key-file': text,
    format: text,
    ...DEFAULT_OPTIONS,
  } as const;
  return readArguments({ args, allowPositionals: true, options });
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
    if (file === '-') {
      throw new UsageError('With --key-stdin, standard input holds the key. Name a file for the events.');
    }
    return undefined;
  }
  try {
    return readRegistration({ email: values.email, agent_name: values.name });
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(message.replace('body.email', '--email').replace('body.agent_name', '--name'));
  }
}

function readKeyFile({ 'key-file': file, 'key-stdin': isKnown }: Values): string | undefined {
  if (isKnown && file !== undefined)
    throw new UsageError('--key-file is for the key of a new agent. With --key-stdin there is none.');
  if (file?.trim() === '') throw new UsageError('--key-file needs a file name.');
  return file;
}

/** Validates by the rules of an event update, which has the same fields. Throws UsageError. */
function readDefaults(values: Values, nowMs: number): DefaultFields {
  const entries = Object.keys(DEFAULT_OPTIONS).flatMap((option) => {
    const value = values[option as keyof typeof DEFAULT_OPTIONS];
    if (value === undefined) return [];
    const isNumber = option === 'lat' || option === 'lng';
    return [[option.replace('-', '_'), isNumber ? readDegrees(option, value) : value]];
  });
  const defaults = Object.fromEntries(entries) as DefaultFields;
  if ((defaults.lat === undefined) !== (defaults.lng === undefined)) {
    throw new UsageError('--lat and --lng must be used together.');
  }
  try {
    return readEventUpdate(defaults, nowMs);
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

/** Text to append to the message for a missing field: the option that sets a default, if there is one. */
export function hintFor(field: string): string {
  const option = optionFor(field);
  return Object.hasOwn(DEFAULT_OPTIONS, option.slice(2)) ? ` (${option} sets a default)` : '';
}
