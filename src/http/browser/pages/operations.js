// The operations of the API docs: code for what is typed, and sending it. Text from the service is only ever set as text.
import { masked } from './key.js';
import { credential, LANGUAGES, toRequest } from './samples.js';

/**
 * The credentials that are known.
 * @typedef {{ readonly key: () => string, readonly token: () => string }} Callers
 */

/** How long a button that deletes waits for the second press. */
const CAREFUL_MS = 5_000;

/** @returns {HTMLFormElement[]} */
const forms = () => [...document.querySelectorAll('form.operation')].map((form) => /** @type {any} */ (form));

/** What is typed. @param {HTMLFormElement} form */
function read(form) {
  const fields = /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll('td > [name]'));
  const filled = [...fields].map(({ name, value, dataset }) => ({
    name,
    place: dataset.place ?? 'query',
    isList: 'list' in dataset,
    value: value.trim(),
  }));
  const [method = '', path = ''] = ['.method', 'code'].map(
    (part) => form.querySelector(`.route ${part}`)?.textContent ?? '',
  );
  const body = /** @type {HTMLTextAreaElement | null} */ (form.querySelector('textarea'))?.value.trim();
  return { method, path, filled, body, hasContent: 'content' in form.dataset };
}

/** The language of all samples. @type {keyof typeof LANGUAGES} */
let language = 'curl';

/** @param {HTMLFormElement} form @param {string} key */
function write(form, key) {
  const access = 'public' in form.dataset && key === '' ? 'anyone' : form.dataset.access;
  const request = toRequest(read(form), location.origin, credential(access, key));
  return LANGUAGES[language].write(request);
}

/** The page shows only the first characters of the key. @param {HTMLFormElement} form @param {Callers} callers */
function showSample(form, callers) {
  const key = callers.key();
  const code = form.querySelector('.sample code');
  if (code) code.textContent = write(form, key === '' ? '' : masked(key));
}

/** @param {Callers} callers */
export function showSamples(callers) {
  for (const form of forms()) showSample(form, callers);
}

/** The code of an operation with the whole key. @param {string} id @param {Callers} callers */
export function sampleText(id, callers) {
  const form = forms().find((each) => each.id === id);
  return form && write(form, callers.key());
}

/** Adds the choice of a language and the button that copies. @param {HTMLFormElement} form */
function addHead(form) {
  const choices = Object.entries(LANGUAGES).map(([value, { name }]) => {
    const radio = Object.assign(document.createElement('input'), { type: 'radio', name: 'language', value });
    radio.checked = value === language;
    return element('label', '', radio, name);
  });
  const legend = element('legend', 'visually-hidden', 'Language');
  const copy = Object.assign(document.createElement('button'), { type: 'button', className: 'button small' });
  copy.textContent = 'Copy';
  copy.dataset.copy = form.id;
  copy.setAttribute('aria-label', 'Copy the code');
  form.querySelector('.code-head')?.replaceChildren(element('fieldset', '', legend, ...choices), copy);
}

/**
 * Sends what is typed, to the host that served the page.
 * @param {HTMLFormElement} form
 * @param {Callers} callers
 */
async function send(form, callers) {
  const { access } = form.dataset;
  const { method, url, headers, body } = toRequest(read(form), '', []);
  const sent = new Headers(headers.map(({ name, value }) => [name, value]));
  if (access === 'key' && callers.key() !== '') sent.set('x-api-key', callers.key());
  if (access === 'token' && callers.token() !== '') sent.set('authorization', `Bearer ${callers.token()}`);
  // Administrators who are signed in at the console need no token.
  const credentials = access === 'token' ? 'same-origin' : 'omit';
  const started = performance.now();
  const response = await fetch(url, {
    method,
    headers: sent,
    body: body ?? null,
    credentials,
    cache: 'no-store',
  });
  const text = await response.text();
  return { response, text, tookMs: Math.round(performance.now() - started) };
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
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

/** @param {string} text @param {string} label */
function block(text, label) {
  const pre = element('pre', '', element('code', '', text));
  pre.tabIndex = 0;
  pre.setAttribute('role', 'group');
  pre.setAttribute('aria-label', label);
  return pre;
}

/** @param {HTMLFormElement} form @param {Node[]} parts */
function show(form, ...parts) {
  const place = /** @type {HTMLElement} */ (form.querySelector('.response'));
  place.hidden = false;
  place.replaceChildren(...parts);
  place.scrollIntoView({ block: 'nearest' });
}

/** @param {HTMLFormElement} form @param {Callers} callers @param {(key: string) => void} takeKey */
async function sendAndShow(form, callers, takeKey) {
  const place = form.querySelector('.response');
  place?.setAttribute('aria-busy', 'true');
  try {
    const { response, text, tookMs } = await send(form, callers);
    const body = parse(text);
    const status = element(
      'p',
      'status',
      element('strong', response.ok ? 'good' : 'bad', `${response.status} ${response.statusText}`),
    );
    status.setAttribute('role', 'status');
    status.append(` in ${tookMs} ms`);
    const names = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    const shown = body === undefined ? text : JSON.stringify(body, null, 2);
    show(
      form,
      status,
      ...(shown === '' ? [] : [block(shown, 'Response')]),
      element('details', '', element('summary', '', 'Headers'), block(names, 'Headers of the response')),
    );
    if (response.ok && form.dataset.access !== 'token') learn(body, takeKey);
  } catch {
    const text = 'The service does not respond. Check your connection and try again.';
    const problem = element('p', 'status', text);
    problem.setAttribute('role', 'alert');
    show(form, problem);
  }
  place?.removeAttribute('aria-busy');
}

/** The event that was created, for the operations that need one. */
let ownEvent = '';

/** Uses a new key, and a new event's ID where nobody typed another. @param {any} body @param {(key: string) => void} takeKey */
function learn(body, takeKey) {
  if (typeof body?.api_key === 'string') takeKey(body.api_key);
  if (typeof body?.event_id !== 'string') return;
  for (const field of document.querySelectorAll('[data-access=key] [name=event_id]')) {
    const input = /** @type {HTMLInputElement} */ (field);
    if (input.value === input.defaultValue || input.value === ownEvent) input.value = body.event_id;
  }
  ownEvent = body.event_id;
}

/** What deletes is sent by the second press. @param {HTMLFormElement} form @returns {boolean} */
function isMeant(form) {
  const button = /** @type {HTMLElement} */ (form.querySelector('[type=submit]'));
  if (!('careful' in form.dataset) || 'asked' in form.dataset) {
    delete form.dataset.asked;
    button.textContent = 'Send';
    return true;
  }
  form.dataset.asked = '';
  button.textContent = 'Press again to send';
  setTimeout(() => {
    delete form.dataset.asked;
    button.textContent = 'Send';
  }, CAREFUL_MS);
  return false;
}

/** Connects the fields with their labels, and gives them IDs to link to. @param {HTMLFormElement} form */
function nameFields(form) {
  for (const label of form.querySelectorAll('.details label')) {
    const row = label.closest('tr');
    const field = (row ?? form).querySelector(row ? '[name]' : 'textarea');
    if (!field) continue;
    field.id = `${form.id}.${field.getAttribute('name') ?? 'body'}`;
    /** @type {HTMLLabelElement} */ (label).htmlFor = field.id;
  }
}

/** @param {Callers} callers @param {(key: string) => void} takeKey */
export function wireOperations(callers, takeKey) {
  for (const form of forms()) {
    addHead(form);
    nameFields(form);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      if (!isMeant(form)) return;
      await sendAndShow(form, callers, takeKey);
      showSamples(callers);
    });
    form.addEventListener('input', (event) => {
      const { name, value } = /** @type {HTMLInputElement} */ (event.target);
      if (name !== 'language') showSample(form, callers);
      else {
        language = /** @type {keyof typeof LANGUAGES} */ (value);
        showChoice();
        showSamples(callers);
      }
    });
  }
}

/** The same language everywhere. */
function showChoice() {
  for (const radio of document.querySelectorAll('[name=language]')) {
    const choice = /** @type {HTMLInputElement} */ (radio);
    choice.checked = choice.value === language;
  }
}
