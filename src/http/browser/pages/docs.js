// The API docs: loads Swagger UI when an operation is tried, because it takes a phone seconds. Our own dialog for keys, and fixes for
// what Swagger UI lacks: a key that survives a reload, names for its fields, and no links inside buttons.
import { currentKey, keepKey, masked, wireCopying, wireRegistration } from './key.js';

const SCHEMES = { key: 'ApiKey', token: 'AdminToken' };

/** @param {string} id @returns {any} */
const find = (id) => document.getElementById(id);
const dialog = find('authorize');

/** @param {boolean} isForNewKey */
function openDialog(isForNewKey) {
  find('get-key').open = isForNewKey;
  showState();
  dialog.showModal();
  find(isForNewKey ? 'email' : 'api-key').focus();
}

function showState() {
  const key = currentKey();
  find('api-key').value = key;
  find('key-state').textContent = key === '' ? '' : `In use: ${masked(key)}`;
  const button = find('authorize-open');
  if (button) button.textContent = key === '' && token === '' ? 'Authorize' : 'Authorized';
}

/** Swagger UI, once it is loaded. @type {any} */
let ui;

/** The administrator's token; not kept when the page is reloaded. */
let token = '';

/**
 * Sets or removes the credential of a scheme in Swagger UI.
 * @param {string} scheme
 * @param {string} value
 */
function authorize(scheme, value) {
  if (!ui) return;
  if (value === '') ui.authActions.logout([scheme]);
  else ui.preauthorizeApiKey(scheme, value);
}

/** @param {string} key */
function useKey(key) {
  keepKey(key);
  authorize(SCHEMES.key, key);
  showState();
}

/**
 * The value with every reference replaced by what it names. All are within the document.
 * @param {any} value
 * @param {any} document
 * @param {string[]} within The references that led here: a recursive one ends as an empty schema.
 * @returns {any}
 */
function inline(value, document, within = []) {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => inline(item, document, within));
  const { $ref, ...others } = value;
  const rest = Object.fromEntries(
    Object.entries(others).map(([name, inner]) => [name, inline(inner, document, within)]),
  );
  if ($ref === undefined || within.includes($ref)) return rest;
  const names = $ref.slice(2).split('/');
  const target = names.reduce(
    (/** @type {any} */ part, /** @type {string} */ name) => part?.[name],
    document,
  );
  return { ...inline(target, document, [...within, $ref]), ...rest };
}

/**
 * Resolves one part of the document for Swagger UI. Its own resolver reads any document from anywhere; for ours that takes a phone
 * several seconds, at the start and for each operation.
 * @param {any} document
 * @param {string[]} path
 */
async function resolveSubtree(document, path) {
  const spec = inline(
    path.reduce((part, name) => part?.[name], document),
    document,
  );
  if (path[0] === 'paths' && path.length === 3) {
    // An operation has the parameters of its path, too.
    const shared = inline(document.paths[path[1] ?? '']?.parameters ?? [], document);
    spec.parameters = [...(spec.parameters ?? []), ...shared];
  }
  return { errors: [], spec };
}

/** @param {any} system */
function ownParts({ React }) {
  /** @type {(...all: any[]) => any} */
  const h = React.createElement;
  return {
    fn: { resolveSubtree },
    components: {
      // Swagger UI puts a link into the button that opens an operation; the URL changes without it, too.
      DeepLink: ({ text = '' }) => h('span', null, text),
      OwnLayout: (/** @type {any} */ { getComponent, specSelectors }) =>
        h(
          'div',
          { className: 'swagger-ui' },
          h(getComponent('SvgAssets')),
          h(
            'div',
            { className: 'info' },
            h('h1', null, 'API docs'),
            h(
              'p',
              { className: 'docs-actions' },
              h(getComponent('AuthorizeBtnContainer', true)),
              h(
                'button',
                { type: 'button', className: 'button', onClick: () => openDialog(true) },
                'Get a key',
              ),
              h('a', { href: '/openapi.json' }, 'openapi.json'),
            ),
            h(getComponent('Markdown', true), { source: specSelectors.info().get('description') }),
          ),
          h(getComponent('errors', true)),
          h('h2', { className: 'visually-hidden' }, 'Operations'),
          h(getComponent('operations', true)),
          h(getComponent('Models', true)),
        ),
      authorizeBtn: (/** @type {any} */ { isAuthorized, onClick }) =>
        h(
          'button',
          { type: 'button', className: 'button primary', onClick },
          isAuthorized ? 'Authorized' : 'Authorize',
        ),
    },
    statePlugins: {
      auth: {
        wrapActions: {
          showDefinitions: (/** @type {any} */ original) => () => {
            openDialog(false);
            return original(false);
          },
        },
      },
    },
  };
}

/** Gives names to the fields that Swagger UI leaves without one, and the focus to what scrolls. */
function mendParts() {
  const page = find('page');
  for (const field of page.querySelectorAll('select:not([aria-label]), textarea:not([aria-label])')) {
    const row = field.closest('[data-param-name]');
    const isBody = field.classList.contains('body-param__text');
    const name = row?.getAttribute('data-param-name') ?? (isBody ? 'Request body' : 'Media type');
    field.setAttribute('aria-label', field.closest('.examples-select') ? 'Example' : name);
  }
  // A long example scrolls; without a mouse, that needs the focus.
  for (const code of page.querySelectorAll('.highlight-code > pre:not([tabindex])')) code.tabIndex = 0;
  for (const table of page.querySelectorAll('table[role=region]:not([aria-label])')) {
    table.setAttribute('aria-label', `Responses of ${table.id.replace('_responses', '')}`);
  }
}

/**
 * @param {string} tag
 * @param {object} attributes
 * @returns {Promise<unknown>} when it is loaded
 */
function addToHead(tag, attributes) {
  const element = Object.assign(document.createElement(tag), attributes);
  return new Promise((resolve, reject) => {
    element.addEventListener('load', resolve);
    element.addEventListener('error', reject);
    document.head.prepend(element); // our own style sheet comes later, and wins
  });
}

async function showSwaggerUi() {
  const [answer] = await Promise.all([
    fetch('/openapi.json'),
    addToHead('link', { rel: 'stylesheet', href: 'swagger-ui.css' }),
    addToHead('script', { src: 'swagger-ui.js' }),
  ]);
  const spec = await answer.json();
  // Requests go to the host that served the page, even if PUBLIC_URL differs.
  delete spec.servers;
  // The browser sends the console's session cookie by itself, and a key as a bearer token is for /mcp only.
  for (const name of ['AdminSession', 'KeyAsBearer']) delete spec.components.securitySchemes[name];
  for (const operation of Object.values(spec.paths).flatMap(Object.values)) {
    // A path may have parameters beside its operations.
    operation.security = operation.security?.filter((/** @type {any} */ scheme) => !scheme.AdminSession);
  }
  // @ts-expect-error a global of the other script
  ui = SwaggerUIBundle({
    dom_id: '#page',
    layout: 'OwnLayout',
    deepLinking: true,
    validatorUrl: null,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    plugins: [ownParts],
  });
  // The option `spec` would write it as text and parse that as YAML, which takes a phone a second.
  ui.specActions.updateJsonSpec(spec);
  ui.specActions.updateLoadingStatus('success');
  if (currentKey() !== '') authorize(SCHEMES.key, currentKey());
  if (token !== '') authorize(SCHEMES.token, token);
  new MutationObserver(mendParts).observe(find('page'), { childList: true, subtree: true });
  mendParts();
}

document.querySelector('.nav a[href="/docs"]')?.setAttribute('aria-current', 'page');
document.querySelector('.get-key')?.addEventListener('click', (event) => {
  event.preventDefault();
  openDialog(true);
});
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
  authorize(SCHEMES.token, token);
  showState();
  find('token-state').textContent = token === '' ? '' : 'In use, until you reload this page.';
});
wireRegistration(useKey);
wireCopying();

let isLoading = false;

/** @param {string} text */
function showLoading(text) {
  const state = find('try-out-state');
  if (state) state.textContent = text;
}

/** Loads Swagger UI in place of the list. It opens the operation that the URL names. */
async function loadTryOut() {
  if (isLoading) return;
  isLoading = true;
  showLoading('Loading …');
  try {
    await showSwaggerUi();
  } catch {
    isLoading = false;
    showLoading('This could not be loaded. Check your connection and try again.');
    for (const button of document.querySelectorAll('.try-out')) button.textContent = 'Try it out';
  }
}

for (const [id, isForNewKey] of [
  ['authorize-open', false],
  ['get-key-open', true],
]) {
  const button = find(String(id));
  button.hidden = false;
  button.addEventListener('click', () => openDialog(isForNewKey === true));
}
showState();
find('page').addEventListener('click', (/** @type {any} */ event) => {
  const button = event.target.closest('.try-out');
  if (!button) return;
  button.textContent = 'Loading …';
  history.replaceState(null, '', `#/${button.closest('details').dataset.operation}`);
  loadTryOut();
});
// Who opens an operation may try it: what that needs is downloaded meanwhile, and nothing is executed.
find('page').addEventListener(
  'toggle',
  () => {
    for (const [as, href] of Object.entries({ script: 'swagger-ui.js', style: 'swagger-ui.css' }))
      void addToHead('link', { rel: 'preload', as, href }).catch(() => {});
  },
  { capture: true, once: true },
);
if (location.hash.startsWith('#/')) loadTryOut();
