// The front page: registration, the first search as a command and as a form that sends it, and the settings for MCP clients.
import { ask, currentKey, keepKey, masked, showProblem, wireCopying, wireRegistration } from './key.js';
import { publishCommand, wirePublishing } from './publish.js';
import { wireTabs } from './tabs.js';

/** How many events the form shows. */
const SHOWN = 5;

const form = /** @type {HTMLFormElement} */ (document.getElementById('search-form'));
const results = /** @type {HTMLElement} */ (document.getElementById('results'));
const placeField = /** @type {HTMLInputElement} */ (document.getElementById('place'));
const choices = /** @type {HTMLElement} */ (document.getElementById('choices'));
const keyField = /** @type {HTMLInputElement} */ (document.getElementById('api-key'));

/** @param {string} name */
const fieldValue = (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).value.trim();

/** Two numbers: latitude and longitude. */
const COORDINATES = /^(-?[\d.]+)\s*,\s*(-?[\d.]+)$/;

function search() {
  const query = new URLSearchParams();
  const [, lat, lng] = COORDINATES.exec(fieldValue('place')) ?? [];
  if (lat && lng) {
    query.set('lat', lat);
    query.set('lng', lng);
  } else query.set('place', fieldValue('place'));
  for (const name of ['radius', 'when', 'q']) if (fieldValue(name) !== '') query.set(name, fieldValue(name));
  return `/v1/events/nearby?${query}`;
}

const { base = '' } = document.body.dataset;
const searchesWithoutKey = document.body.dataset.public === 'on';

/** Settings for MCP clients, as in the page: `$KEY` or `lev_…` stands for the key. */
const settings = new Map(
  [...document.querySelectorAll('#connect code[id]')].map(({ id, textContent }) => [id, textContent ?? '']),
);

/** @param {string} id @param {string} key @returns {string | undefined} */
function commandOf(id, key) {
  if (id === 'curl') {
    const header = searchesWithoutKey && key === '$KEY' ? '' : ` -H "X-API-Key: ${key}"`;
    return `curl "${location.origin}${search()}"${header} -H "Prefer: handling=strict"`;
  }
  if (id === 'publish-curl') return publishCommand(key);
  const text = settings.get(id)?.replaceAll(base, location.origin);
  // Whoever has no key sees where it goes.
  return key === '$KEY' ? text : text?.replaceAll('$KEY', key).replaceAll('lev_…', key);
}

/** The commands on the page show only the first characters of the key. */
function showCommands() {
  const key = masked(keyField.value.trim());
  for (const id of ['curl', 'publish-curl', ...settings.keys()]) {
    /** @type {HTMLElement} */ (document.getElementById(id)).textContent = commandOf(id, key) ?? '';
  }
  for (const chip of form.querySelectorAll('[data-place]')) {
    const isChosen = chip.getAttribute('data-place') === fieldValue('place');
    chip.setAttribute('aria-pressed', String(isChosen));
  }
}

/**
 * @param {string} name
 * @param {string} className
 * @param {(string | Node)[]} children
 */
function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** @param {{ start_at: string, timezone: string }} event */
function when({ start_at, timezone }) {
  const options = { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' };
  try {
    // @ts-expect-error the names of the options are strings
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: timezone }).format(new Date(start_at));
  } catch {
    return start_at; // this browser does not know the timezone
  }
}

/** @param {any} event */
function toItem(event) {
  const time = element('time', '', when(event));
  time.setAttribute('datetime', event.start_at);
  const facts = element('span', 'second', time, ' · ', element('bdi', '', event.location_name));
  const title = element('bdi', 'event-title', event.title);
  return element('li', '', element('div', '', title, facts), element('span', 'badge', event.event_type));
}

/**
 * The error as it is shown at the fields: one field has both coordinates, and places to choose from are buttons.
 * @param {any} body
 */
function atFields(body) {
  const detail = body?.detail?.map((/** @type {{ loc: string[], msg: string }} */ { loc, msg }) => {
    const name = loc.at(-1) ?? '';
    if (name === 'lat' || name === 'lng') return { loc: ['place'], msg: `${name} ${msg}` };
    if (name === 'place' && body.candidates) return { loc, msg: 'Which of these places do you mean?' };
    return { loc, msg };
  });
  return detail ? { ...body, detail } : body;
}

/** @param {{ place: string }[]} candidates */
function showChoices(candidates) {
  const buttons = candidates.map(({ place }) => {
    const chip = element('button', 'chip', place.replace(/;.*/, ''));
    chip.setAttribute('type', 'button');
    chip.setAttribute('data-place', place);
    return chip;
  });
  choices.replaceChildren(...buttons);
}

/** @param {any} page @param {string} place Where the events are, if it has a name. */
function showResults(page, place) {
  const { events, total } = page;
  const count = total === 1 ? '1 event' : `${total.toLocaleString('en')} events`;
  const more = total > events.length ? ` The first ${events.length}, by start:` : '';
  const heading = element('p', 'results-title', element('strong', '', count), ` found${place}.${more}`);
  if (total === 0) heading.append(' Choose another place or a larger radius, or publish the first one.');
  const json = element('pre', '', element('code', '', JSON.stringify(page, null, 2)));
  json.tabIndex = 0;
  json.setAttribute('aria-label', 'The response');
  results.replaceChildren(
    heading,
    element('ul', 'events', ...events.map(toItem)),
    element('details', 'raw', element('summary', '', 'The response as JSON'), json),
  );
}

let lastSearch = 0;

/** How long the visitor may type on before the events follow. */
const TYPING_MS = 300;

/** The timer of a search for what is being typed; 0: none. */
let typing = 0;

/**
 * Searches with the form, and shows the events or the error. What was asked for later is shown, whatever responds last.
 * @param {boolean} isAsked Whether the visitor pressed the button. Only then an error takes the focus.
 */
async function showSearch(isAsked) {
  clearTimeout(typing);
  typing = 0;
  const key = keyField.value.trim();
  const headers = { prefer: 'handling=strict', ...(key !== '' && { 'x-api-key': key }) };
  const number = ++lastSearch;
  results.setAttribute('aria-busy', 'true');
  const { status, body, headers: sent } = await ask(`${search()}&limit=${SHOWN}`, { headers });
  if (number !== lastSearch) return;
  results.removeAttribute('aria-busy');
  showProblem(form, status === 200 ? undefined : atFields(body), isAsked);
  showChoices(body?.candidates ?? []);
  if (status !== 200) {
    results.replaceChildren();
    if (status === 401 && isAsked) keyField.focus();
    return;
  }
  if (key !== '') keepKey(key);
  const resolved = sent?.get('resolved-place')?.replace(/;.*/, '');
  showResults(body, resolved ? ` near ${resolved}` : '');
}

/** The events belong to the form: when it changes, so do they. If a key is needed, the page says how to get one. */
function follow() {
  showCommands();
  if (searchesWithoutKey || keyField.value.trim() !== '') void showSearch(false);
}

form.addEventListener('input', ({ target }) => {
  showCommands();
  if (target === keyField || target === placeField) return; // a part of a key or of a name is refused
  clearTimeout(typing);
  typing = window.setTimeout(follow, TYPING_MS);
});
form.addEventListener('change', ({ target }) => {
  if (typing !== 0 || target === keyField || target === placeField) follow();
});
form.addEventListener('click', (event) => {
  const place = /** @type {Element} */ (event.target).closest('[data-place]')?.getAttribute('data-place');
  if (!place) return;
  placeField.value = place;
  if (choices.contains(document.activeElement)) placeField.focus(); // the choices go
  follow();
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void showSearch(true);
});

/** After a reload: whoever has a key seldom needs another. */
function showKnownKey() {
  const registration = /** @type {HTMLElement} */ (document.getElementById('registration'));
  const known = /** @type {HTMLElement} */ (document.getElementById('known-key'));
  /** @type {HTMLElement} */ (known.querySelector('code')).textContent = masked(currentKey());
  known.hidden = false;
  registration.hidden = true;
  known.querySelector('button')?.addEventListener('click', () => {
    known.hidden = true;
    registration.hidden = false;
    registration.querySelector('input')?.focus();
  });
}

if (currentKey() !== '') showKnownKey();
wireRegistration((key) => {
  keyField.value = key;
  follow();
});
wirePublishing(() => keyField.value.trim(), showCommands, follow);
wireTabs(/** @type {HTMLElement} */ (document.querySelector('#connect [role=tablist]')));
wireCopying((id) => commandOf(id, keyField.value.trim() || '$KEY'));
keyField.value = currentKey();
follow();
