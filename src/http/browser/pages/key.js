// The API key on the pages / and /docs: registration, the key of this tab, requests with it, and copying. Text from the
// service is only ever set as text.

/** The key is kept per tab, not per browser: it ends with the tab. */
const STORED = 'local-events-key';

/** Shown once: with registration, and never again in full. */
let key = read();

function read() {
  try {
    return sessionStorage.getItem(STORED) ?? '';
  } catch {
    return ''; // storage may be denied
  }
}

/** The key of this tab, or the empty string. */
export function currentKey() {
  return key;
}

/** @param {string} next The empty string forgets the key. */
export function keepKey(next) {
  key = next;
  try {
    if (key === '') sessionStorage.removeItem(STORED);
    else sessionStorage.setItem(STORED, key);
  } catch {
    // Without storage, the key lasts until the page is closed.
  }
}

/** @param {string} text */
export function masked(text) {
  return text === '' ? '$KEY' : `${text.slice(0, 8)}…`;
}

/**
 * Sends a request to the service. Never throws: without a response, the status is 0.
 * @param {string} path
 * @param {RequestInit} init
 * @returns {Promise<{ status: number, body: any, headers?: Headers }>}
 */
export async function ask(path, init = {}) {
  try {
    const response = await fetch(path, { ...init, credentials: 'omit', cache: 'no-store' });
    const { status, headers } = response;
    return { status, headers, body: status === 204 ? undefined : await response.json() };
  } catch {
    const message = 'The service does not respond. Check your connection and try again.';
    return { status: 0, body: { error: { code: 'UNREACHABLE', message } } };
  }
}

/**
 * Shows an error as the API says it: at the fields that it names, or else above the form's end.
 * @param {HTMLFormElement} form
 * @param {any} body Undefined: no error.
 * @param {boolean} takesFocus Whether the first of these fields gets the focus.
 */
export function showProblem(form, body, takesFocus = true) {
  /** @type {{ loc: (string | number)[], msg: string }[]} */
  const details = body?.detail ?? [];
  /** @type {HTMLInputElement | undefined} */
  let first;
  let shown = 0;
  for (const input of form.querySelectorAll('input')) {
    const own = details.filter(({ loc }) => loc.at(-1) === input.name);
    shown += own.length;
    const place = form.querySelector(`#${input.id}-problem`);
    if (place) place.textContent = own.map(({ msg }) => msg).join(' ');
    if (own.length > 0) {
      input.setAttribute('aria-invalid', 'true');
      first ??= input;
    } else input.removeAttribute('aria-invalid');
  }
  const problem = /** @type {HTMLElement} */ (form.querySelector('[data-problem]'));
  const message = body?.error?.message ?? '';
  problem.textContent = message;
  problem.hidden = message === '' || (details.length > 0 && shown === details.length);
  if (takesFocus) first?.focus();
}

/**
 * Registers with the fields of the form, and shows the key.
 * @param {(key: string) => void} onKey
 */
export function wireRegistration(onKey) {
  const form = /** @type {HTMLFormElement} */ (document.getElementById('registration'));
  const result = /** @type {HTMLElement} */ (document.getElementById('new-key'));
  const button = /** @type {HTMLButtonElement} */ (form.querySelector('button[type=submit]'));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    const { status, body } = await ask('/v1/auth/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(new FormData(form))),
    });
    button.removeAttribute('aria-disabled');
    showProblem(form, status === 200 ? undefined : body);
    if (status !== 200) return;
    keepKey(body.api_key);
    /** @param {string} name @param {string} text */
    const fill = (name, text) => {
      const place = result.querySelector(name);
      if (place) place.textContent = text;
    };
    fill('[data-new-key]', body.api_key);
    const limit =
      body.rate_limit > 0 ? `${body.rate_limit.toLocaleString('en')} requests per hour` : 'no quota';
    fill('[data-key-facts]', `tier ${body.tier}, ${limit}`);
    form.hidden = true;
    result.hidden = false;
    result.querySelector('button')?.focus();
    onKey(body.api_key);
  });
}

const COPIED_MS = 2_000;

/**
 * Makes every button with data-copy copy the text of the element with that ID.
 * @param {(id: string) => string | undefined} textOf What to copy instead of the text.
 */
export function wireCopying(textOf = () => undefined) {
  for (const button of document.querySelectorAll('button[data-copy]')) {
    const id = button.getAttribute('data-copy') ?? '';
    const label = button.textContent;
    button.addEventListener('click', async () => {
      const isDone = await copy(textOf(id) ?? document.getElementById(id)?.textContent ?? '');
      button.textContent = isDone ? 'Copied' : 'Not copied';
      setTimeout(() => {
        button.textContent = label;
      }, COPIED_MS);
    });
  }
}

/**
 * Browsers have a clipboard only on https and localhost. Elsewhere the older way works: it copies what is selected in a field.
 * @param {string} text
 */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/** @param {string} text */
function copySelected(text) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  document.body.append(field);
  field.select();
  const isDone = document.execCommand('copy');
  field.remove();
  focused?.focus();
  return isDone;
}
