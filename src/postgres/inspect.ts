// What the start of a node would find in the database. Changes nothing, also while nodes use it.
import type { Finding, TimeSource } from '../domain/finding.ts';
import type { Database, DatabaseOptions } from './client/database.ts';
import { describeAddress } from './client/url.ts';
import { inspectSchema, type SchemaState } from './migrate.ts';
import { connectChecked, explainOpening, requireFinished, requireRights } from './open.ts';
import { findSetting, referenceTime } from './settings.ts';

/** `checkClock` returns what is wrong with the clock. */
export async function inspectDatabase(
  options: DatabaseOptions,
  checkClock: (source: TimeSource) => Promise<string | undefined>,
): Promise<Finding[]> {
  const place = describeAddress(options.url);
  const findings: Finding[] = [
    {
      about: 'disk',
      kind: 'note',
      text: 'The disk of the database is not checked: look at it on its server.',
    },
  ];
  let database: Database | undefined;
  let about: Finding['about'] = 'database';
  try {
    database = await connectChecked(options, place);
    const opened = database;
    findings.push({ about, kind: 'ok', text: await describeServer(opened, place) });
    about = 'schema';
    const state = await opened.run('repeatable', (sql) => inspectSchema(sql));
    await requireRights(opened, place);
    findings.push({ about, ...describeSchema(state) });
    about = 'database';
    if (state.count > 0) await requireFinished(opened, place);
    about = 'clock';
    const problem = await checkClock({
      findSetting: async (name) => (state.count > 0 ? findSetting(opened, name) : undefined),
      referenceTime: () => referenceTime(opened),
    });
    findings.push(
      problem === undefined
        ? { about, kind: 'ok', text: 'The clock agrees with that of the database.' }
        : { about, kind: 'problem', text: problem },
    );
  } catch (error) {
    findings.push({ about, kind: 'problem', text: explainOpening(error, options, place).message });
  } finally {
    await database?.close();
  }
  return findings;
}

async function describeServer(database: Database, place: string): Promise<string> {
  const [found] = await database.run(
    'repeatable',
    (sql) => sql<[{ version: string; postgis: string | null }]>`
      SELECT current_setting('server_version') AS version,
        (SELECT extversion FROM pg_extension WHERE extname = 'postgis') AS postgis`,
  );
  const postgis = found.postgis === null ? 'without PostGIS' : `with PostGIS ${found.postgis}`;
  return `${place} is PostgreSQL ${found.version.split(' ')[0]} ${postgis}, and accepts writes.`;
}

function describeSchema({
  count,
  missing,
  addsPostgis,
  mayCreate,
  role,
}: SchemaState): Omit<Finding, 'about'> {
  if (missing.length === 0) return { kind: 'ok', text: `Schema ${count}: a start migrates nothing.` };
  if (!mayCreate) {
    return {
      kind: 'problem',
      text:
        `Schema ${count}: a start would apply ${missing.join(', ')}, but the role ${role} may not create tables. Run as the owner of the ` +
        `database or a superuser: GRANT CREATE ON SCHEMA public TO ${role};`,
    };
  }
  const first = addsPostgis ? 'adds PostGIS and ' : '';
  return { kind: 'note', text: `Schema ${count}: a start ${first}applies ${missing.join(', ')}.` };
}
