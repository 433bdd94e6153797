// The front page's form that publishes an event, and the command that does the same.
import { ask, showProblem } from './key.js';

const form = /** @type {HTMLFormElement} */ (document.getElementById('publish-form'));
const result = /** @type {HTMLElement} */ (document.getElementById('published'));
const city = /** @type {HTMLSelectElement} */ (document.getElementById('publish-city'));

const DAY_MS = 86_400_000;

/** @param {string} name */
const field = (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));

/** The event as the API takes it. What is not a number stays text, so that the API says what is wrong. */
function readEvent() {
  const [lat = '', lng = ''] = field('coordinates')
    .value.split(',')
    .map((part) => part.trim());
  /** @param {string} text */
  const numberOf = (text) => (text === '' || Number.isNaN(Number(text)) ? text : Number(text));
  const start = field('start_at').value;
  return {
    title: field('title').value,
    event_type: field('event_type').value,
    start_at: start.length === 16 ? `${start}:00` : start, // browsers leave out seconds that are 0
    timezone: field('timezone').value.trim(),
    location_name: field('location_name').value,
    lat: numberOf(lat),
    lng: numberOf(lng),
  };
}

/** @param {string} key */
export function publishCommand(key) {
  const body = JSON.stringify(readEvent()).replaceAll("'", "'\\''");
  return `curl ${location.origin}/v1/events -H "X-API-Key: ${key}" -H "Prefer: handling=strict" -H "Content-Type: application/json" -d '${body}'`;
}

/** Errors of both coordinates belong to their one field. @param {any} body */
function atFields(body) {
  const seen = new Set();
  const detail = body?.detail?.flatMap((/** @type {{ loc: string[], msg: string }} */ { loc, msg }) => {
    const name = loc.at(-1) ?? '';
    const shown = ['lat', 'lng'].includes(name)
      ? { loc: ['coordinates'], msg: `${name} ${msg}` }
      : { loc, msg };
    const text = JSON.stringify(shown);
    return seen.has(text) ? [] : [seen.add(text) && shown];
  });
  return detail ? { ...body, detail } : body;
}

/**
 * @param {() => string} keyOf
 * @param {() => void} onInput Called when the command is another.
 * @param {() => void} onChange Called when an event was published or deleted.
 */
export function wirePublishing(keyOf, onInput, onChange) {
  const button = /** @type {HTMLButtonElement} */ (form.querySelector('button[type=submit]'));
  /** @param {string} path @param {RequestInit} init */
  const send = (path, init) =>
    ask(path, {
      ...init,
      headers: {
        prefer: 'handling=strict',
        ...(keyOf() !== '' && { 'x-api-key': keyOf() }),
        ...(init.body !== undefined && { 'content-type': 'application/json' }),
      },
    });
  /** @param {any} event */
  const showPublished = (event) => {
    const title = document.createElement('bdi');
    title.textContent = event.title;
    const id = document.createElement('code');
    id.textContent = event.event_id;
    const said = document.createElement('p');
    said.className = 'results-title';
    said.append('Published ', title, ' as ', id, '. ');
    const remove = document.createElement('button');
    remove.type = 'button';
    remove.className = 'button small';
    remove.textContent = 'Delete it';
    remove.addEventListener('click', async () => {
      const { status, body } = await send(`/v1/events/${event.event_id}`, { method: 'DELETE' });
      said.textContent = status === 204 ? 'Deleted.' : body.error.message;
      onChange();
    });
    said.append(remove);
    result.replaceChildren(said);
  };
  city.addEventListener('change', () => {
    if (city.value === '') return;
    field('coordinates').value = city.value.replace(',', ', ');
    field('timezone').value = city.selectedOptions[0]?.dataset.timezone ?? '';
    onInput();
  });
  form.addEventListener('input', onInput);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    const { status, body } = await send('/v1/events', { method: 'POST', body: JSON.stringify(readEvent()) });
    button.removeAttribute('aria-disabled');
    showProblem(form, status === 200 ? undefined : atFields(body));
    result.replaceChildren();
    if (status !== 200) return;
    showPublished(body);
    onChange();
  });
  // Tomorrow evening.
  const day = new Date(performance.timeOrigin + DAY_MS);
  const date = [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) =>
    String(part).padStart(2, '0'),
  );
  field('start_at').value = `${date.join('-')}T19:00`;
}
