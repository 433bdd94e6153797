// Names and codes that regions go by: the name of GeoNames with and without words such as "Province", codes of postal services, and
// names in the language of the country for those that GeoNames has in English.
import { toAscii } from '../../src/domain/places.ts';
import { nameKey } from '../../src/places/place-names.ts';

/** Codes of postal services, where those of GeoNames are others. */
const POSTAL: Readonly<Record<string, string>> = {
  ...{
    'CA.01': 'AB',
    'CA.02': 'BC',
    'CA.03': 'MB',
    'CA.04': 'NB',
    'CA.05': 'NL',
    'CA.07': 'NS',
    'CA.08': 'ON',
  },
  ...{ 'CA.09': 'PE', 'CA.10': 'QC', 'CA.11': 'SK', 'CA.12': 'YT', 'CA.13': 'NT', 'CA.14': 'NU' },
  ...{ 'AU.01': 'ACT', 'AU.02': 'NSW', 'AU.03': 'NT', 'AU.04': 'QLD', 'AU.05': 'SA', 'AU.06': 'TAS' },
  ...{ 'AU.07': 'VIC', 'AU.08': 'WA' },
};

const NATIVE: Readonly<Record<string, readonly string[]>> = {
  'DE.02': ['Bayern'],
  'DE.05': ['Hessen'],
  'DE.06': ['Niedersachsen'],
  'DE.07': ['Nordrhein-Westfalen', 'NRW'],
  'DE.08': ['Rhineland-Palatinate'],
  'DE.13': ['Sachsen'],
  'DE.14': ['Sachsen-Anhalt'],
  'DE.15': ['Thüringen'],
  'AT.02': ['Kärnten'],
  'AT.03': ['Niederösterreich'],
  'AT.04': ['Oberösterreich'],
  'AT.06': ['Steiermark'],
  'AT.07': ['Tirol'],
  'AT.09': ['Wien'],
  'BE.VLG': ['Vlaanderen'],
  'BE.WAL': ['Wallonie'],
  'CH.GE': ['Genève', 'Genf'],
  'CH.GR': ['Graubünden'],
  'CH.LU': ['Luzern'],
  'CZ.52': ['Praha'],
  'ES.07': ['Islas Baleares', 'Illes Balears'],
  'ES.32': ['Navarra'],
  'ES.51': ['Andalucía'],
  'ES.52': ['Aragón'],
  'ES.53': ['Canarias', 'Islas Canarias'],
  'ES.54': ['Castilla-La Mancha'],
  'ES.55': ['Castilla y León'],
  'ES.56': ['Cataluña', 'Catalunya'],
  'ES.59': ['País Vasco', 'Euskadi'],
  'ES.60': ['Comunidad Valenciana'],
  'IT.02': ['Basilicata'],
  'IT.09': ['Lombardia'],
  'IT.10': ['Marche'],
  'IT.12': ['Piemonte'],
  'IT.13': ['Puglia'],
  'IT.14': ['Sardegna'],
  'IT.15': ['Sicilia'],
  'IT.16': ['Toscana'],
  'FR.53': ['Bretagne'],
  'FR.28': ['Normandie'],
  'FR.75': ['Nouvelle-Aquitaine'],
  'FR.94': ['Corse'],
  'NL.06': ['Noord-Brabant'],
  'NL.07': ['Noord-Holland'],
  'NL.11': ['Zuid-Holland'],
  'PL.72': ['Dolnośląskie'],
  'PL.77': ['Małopolskie'],
  'PL.78': ['Mazowieckie'],
  'PT.14': ['Lisboa'],
  'US.DC': ['D.C.'],
};

const KINDS =
  'province|state|region|oblast|governorate|county|district|prefecture|department|municipality|canton|voivodeship|division|territory|krai|republic|raion|parish|emirate|autonomous region|autonomous oblast|city';
const AROUND = [
  new RegExp(`\\s+(?:${KINDS})$`, 'i'),
  new RegExp(`^(?:free |federal |autonomous |provisional )?(?:${KINDS}) of (?:the )?`, 'i'),
  /^(?:provincia|estado|departamento|región|region|département|comunidad|communauté) (?:autónoma )?(?:de |del |de la |d')?/i,
];

/** The keys of a region, of which the first is that of its name. Its code is that of GeoNames, with the country's: DE.16. */
export function regionKeys(code: string, name: string): readonly string[] {
  const bare = AROUND.reduce((rest, pattern) => rest.replace(pattern, ''), name);
  const american = code.startsWith('US.') ? [code.slice(3)] : [];
  const names = [name, toAscii(name), bare, toAscii(bare), POSTAL[code] ?? '', ...(NATIVE[code] ?? [])];
  return [...new Set([...names, ...american].map(nameKey))].filter((key) => key !== '');
}
