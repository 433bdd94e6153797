// The API docs: the key of this tab and its dialog, an administrator's token, and the parts of the page that use them.
import { wireContents } from './contents.js';
import { currentKey, keepKey, masked, wireCopying, wireRegistration } from './key.js';
import { sampleText, showSamples, wireOperations } from './operations.js';

/** @param {string} id @returns {any} */
const find = (id) => document.getElementById(id);
const dialog = find('authorize');

/** The administrator's token; not kept when the page is reloaded. */
let token = '';

const callers = { key: currentKey, token: () => token };

/** @param {boolean} isForNewKey */
function openDialog(isForNewKey) {
  find('get-key').open = isForNewKey;
  find('token-part').open = false;
  showState();
  dialog.showModal();
  const first = find('registration').hidden ? 'api-key' : 'email';
  find(isForNewKey ? first : 'api-key').focus();
}

function showState() {
  const key = currentKey();
  find('api-key').value = key;
  find('key-state').textContent = key === '' ? '' : `In use: ${masked(key)}`;
  find('authorize-open').textContent = key === '' ? 'Use a key' : `Key in use: ${masked(key)}`;
  for (const form of document.querySelectorAll('.operation'))
    showCaller(/** @type {HTMLFormElement} */ (form));
  showSamples(callers);
}

/** Says as whom an operation is sent, with a button to change it. @param {HTMLFormElement} form */
function showCaller(form) {
  const { access } = form.dataset;
  if (access === undefined) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'link';
  const isKey = access === 'key';
  const isKnown = isKey ? currentKey() !== '' : token !== '';
  if (isKey) button.textContent = isKnown ? 'Change' : 'Get a key';
  else button.textContent = isKnown ? 'Change' : 'Use a token';
  button.addEventListener('click', () => {
    openDialog(isKey && !isKnown);
    if (isKey) return;
    find('token-part').open = true;
    find('admin-token').focus();
  });
  const known = isKey ? `With your key ${masked(currentKey())}` : 'With your token.';
  const noKey = 'public' in form.dataset ? 'Without a key.' : 'No key yet.';
  const unknown = isKey ? noKey : 'With your session of the console, if you are signed in.';
  form.querySelector('.caller')?.replaceChildren(`${isKnown ? known : unknown} `, button);
}

/** @param {string} key */
function useKey(key) {
  keepKey(key);
  showState();
}

document.querySelector('.nav a[href="/docs"]')?.setAttribute('aria-current', 'page');
document.querySelector('.get-key')?.addEventListener('click', (event) => {
  event.preventDefault();
  openDialog(true);
});
for (const id of ['authorize-open', 'get-key-open']) {
  const button = find(id);
  button.hidden = false;
  button.addEventListener('click', () => openDialog(id === 'get-key-open'));
}
find('authorize-close').addEventListener('click', () => dialog.close());
// A click outside closes the dialog: only the backdrop belongs to the dialog itself.
dialog.addEventListener('click', (/** @type {Event} */ event) => event.target === dialog && dialog.close());
find('key-form').addEventListener('submit', (/** @type {Event} */ event) => {
  event.preventDefault();
  useKey(find('api-key').value.trim());
  dialog.close();
});
find('token-form').addEventListener('submit', (/** @type {Event} */ event) => {
  event.preventDefault();
  token = find('admin-token').value.trim();
  showState();
  find('token-state').textContent = token === '' ? '' : 'In use, until you reload this page.';
});
wireRegistration((key) => {
  useKey(key);
  find('next').hidden = false;
});
find('next').addEventListener('click', () => dialog.close());
wireOperations(callers, useKey);
wireCopying((id) => sampleText(id, callers));
wireContents();
showState();
