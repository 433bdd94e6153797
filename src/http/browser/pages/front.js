// The front page: registration, the first search as a command and as a form that sends it, and the command for MCP.
import { ask, currentKey, keepKey, masked, showProblem, wireCopying, wireRegistration } from './key.js';

/** How many events the form shows. */
const SHOWN = 5;

const form = /** @type {HTMLFormElement} */ (document.getElementById('search-form'));
const results = /** @type {HTMLElement} */ (document.getElementById('results'));
const keyField = /** @type {HTMLInputElement} */ (document.getElementById('api-key'));

/** @param {string} name */
const fieldValue = (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).value.trim();

function search() {
  const query = new URLSearchParams();
  for (const name of ['lat', 'lng', 'radius']) if (fieldValue(name) !== '') query.set(name, fieldValue(name));
  return `/v1/events/nearby?${query}`;
}

/** @param {string} key */
const commands = (key) => ({
  curl: `curl "${location.origin}${search()}" -H "X-API-Key: ${key}" -H "Prefer: handling=strict"`,
  mcp: `claude mcp add --transport http local-events ${location.origin}/mcp --header "X-API-Key: ${key}"`,
});

/** The commands on the page show only the first characters of the key. */
function showCommands() {
  for (const [id, text] of Object.entries(commands(masked(keyField.value.trim())))) {
    /** @type {HTMLElement} */ (document.getElementById(id)).textContent = text;
  }
  for (const chip of form.querySelectorAll('[data-place]')) {
    const isChosen = chip.getAttribute('data-place') === `${fieldValue('lat')},${fieldValue('lng')}`;
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

/** @param {any} page */
function showResults(page) {
  const { events, total } = page;
  const count = total === 1 ? '1 event' : `${total.toLocaleString('en')} events`;
  const more = total > events.length ? ` The first ${events.length}, by start:` : '';
  const heading = element('p', 'results-title', element('strong', '', count), ` found.${more}`);
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

form.addEventListener('input', showCommands);
form.addEventListener('click', (event) => {
  const place = /** @type {Element} */ (event.target).closest('[data-place]')?.getAttribute('data-place');
  if (!place) return;
  const [lat = '', lng = ''] = place.split(',');
  /** @type {HTMLInputElement} */ (form.elements.namedItem('lat')).value = lat;
  /** @type {HTMLInputElement} */ (form.elements.namedItem('lng')).value = lng;
  showCommands();
});
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const key = keyField.value.trim();
  const headers = key === '' ? undefined : { 'x-api-key': key, prefer: 'handling=strict' };
  results.setAttribute('aria-busy', 'true');
  const { status, body } = await ask(`${search()}&limit=${SHOWN}`, headers && { headers });
  results.removeAttribute('aria-busy');
  showProblem(form, status === 200 ? undefined : body);
  if (status !== 200) {
    results.replaceChildren();
    if (status === 401) keyField.focus();
    return;
  }
  keepKey(key);
  showResults(body);
});

wireRegistration((key) => {
  keyField.value = key;
  showCommands();
});
wireCopying((id) => {
  const key = keyField.value.trim() || '$KEY';
  return id === 'curl' || id === 'mcp' ? commands(key)[id] : undefined;
});
keyField.value = currentKey();
showCommands();
