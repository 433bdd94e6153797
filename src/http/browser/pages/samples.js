// A request as code in three languages. The server writes the samples of /docs with it, and the page writes them again for what is
// typed. So it needs no browser.

/**
 * A parameter and what is typed for it.
 * @typedef {{ readonly name: string, readonly place: string, readonly isList?: boolean, readonly value: string }} Filled
 *
 * A header. With a variable, its value comes from the environment, after the prefix in `value`.
 * @typedef {{ readonly name: string, readonly value: string, readonly variable?: string | undefined }} Header
 *
 * @typedef {{
 *   readonly method: string,
 *   readonly url: string,
 *   readonly headers: readonly Header[],
 *   readonly body?: string | undefined,
 *   readonly isJson: boolean,
 * }} Sent
 */

export const LANGUAGES = {
  curl: { name: 'curl', write: writeCurl },
  javascript: { name: 'JavaScript', write: writeJavaScript },
  python: { name: 'Python', write: writePython },
};

/**
 * The header that says who is calling; the value itself, or the name of its variable.
 * @param {string | undefined} access
 * @param {string} key
 * @returns {Header[]}
 */
export function credential(access, key) {
  if (access === 'key')
    return [{ name: 'X-API-Key', ...(key ? { value: key } : { value: '', variable: 'KEY' }) }];
  if (access === 'token') return [{ name: 'Authorization', value: 'Bearer ', variable: 'TOKEN' }];
  return [];
}

/**
 * A parameter that is empty is left out; a list is separated by commas, and sent as a repeated parameter.
 * @param {{ method: string, path: string, filled: readonly Filled[], body?: string | undefined, hasContent: boolean }} operation
 * @param {string} base
 * @param {readonly Header[]} credentials
 * @returns {Sent}
 */
export function toRequest({ method, path, filled, body, hasContent }, base, credentials) {
  const sent = filled.filter(({ value }) => value !== '');
  const of = (/** @type {string} */ place) => sent.filter((parameter) => parameter.place === place);
  const address = of('path').reduce(
    (before, { name, value }) => before.replace(`{${name}}`, () => encode(value)),
    path,
  );
  const query = of('query').flatMap(({ name, value, isList }) =>
    (isList ? value.split(',').map((item) => item.trim()) : [value]).map((item) => `${name}=${encode(item)}`),
  );
  const headers = [...credentials, ...of('header').map(({ name, value }) => ({ name, value }))];
  if (body) headers.push({ name: 'Content-Type', value: 'application/json' });
  return {
    method,
    url: `${base}${address}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    headers,
    body: body || undefined,
    isJson: hasContent && !sent.some(({ name, value }) => name === 'format' && value === 'ics'),
  };
}

/** Also quotes, which encodeURIComponent leaves. @param {string} text */
function encode(text) {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** @param {Sent} sent */
function writeCurl({ method, url, headers, body }) {
  const quote = (/** @type {string} */ text) => `'${text.replaceAll("'", "'\\''")}'`;
  const parts = [quote(url)];
  if (method !== (body === undefined ? 'GET' : 'POST')) parts.unshift(`-X ${method}`);
  const lines = [`curl ${parts.join(' ')}`];
  for (const { name, value, variable } of headers) {
    lines.push(`-H ${variable ? `"${name}: ${value}$${variable}"` : quote(`${name}: ${value}`)}`);
  }
  if (body !== undefined) lines.push(`-d ${quote(body)}`);
  return lines.join(' \\\n  ');
}

/** @param {Sent} sent */
function writeJavaScript({ method, url, headers, body, isJson }) {
  const value = (/** @type {Header} */ header) => {
    if (header.variable === undefined) return JSON.stringify(header.value);
    return header.value
      ? `\`${header.value}\${process.env.${header.variable}}\``
      : `process.env.${header.variable}`;
  };
  const options = [
    ...(method === 'GET' ? [] : [`  method: "${method}",`]),
    ...(headers.length === 0 ? [] : ['  headers: {']),
    ...headers.map((header) => `    "${header.name}": ${value(header)},`),
    ...(headers.length === 0 ? [] : ['  },']),
    ...(body === undefined ? [] : [`  body: ${bodyIn(body, 'JSON.stringify(', ')', JAVASCRIPT)},`]),
  ];
  const call = options.length === 0 ? `"${url}"` : `"${url}", {\n${options.join('\n')}\n}`;
  return `const response = await fetch(${call});\nconsole.log(response.status, await response.${isJson ? 'json' : 'text'}());`;
}

/** @param {Sent} sent */
function writePython({ method, url, headers, body, isJson }) {
  const value = (/** @type {Header} */ header) => {
    if (header.variable === undefined) return JSON.stringify(header.value);
    return `${header.value ? `"${header.value}" + ` : ''}os.environ["${header.variable}"]`;
  };
  const usesVariable = headers.some(({ variable }) => variable);
  const modules = [isJson || body !== undefined ? 'json' : '', usesVariable ? 'os' : '', 'urllib.request'];
  const lines = [
    `import ${modules.filter((name) => name).join(', ')}`,
    '',
    'request = urllib.request.Request(',
    `    "${url}",`,
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    ...(headers.length === 0 ? [] : ['    headers={']),
    ...headers.map((header) => `        "${header.name}": ${value(header)},`),
    ...(headers.length === 0 ? [] : ['    },']),
    ...(body === undefined ? [] : [`    data=${bodyIn(body, 'json.dumps(', ')', PYTHON)}.encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as response:',
    `    print(response.status, ${isJson ? 'json.load(response)' : 'response.read().decode()'})`,
  ];
  return lines.join('\n');
}

/** @typedef {{ indent: number, step: number, words: Readonly<Record<string, string>> }} Style */
const JAVASCRIPT = { indent: 2, step: 2, words: {} };
const PYTHON = { indent: 4, step: 4, words: { true: 'True', false: 'False', null: 'None' } };

/**
 * The body as a value of the language, or as a string if it is not JSON.
 * @param {string} body
 * @param {string} before
 * @param {string} after
 * @param {Style} style
 */
function bodyIn(body, before, after, style) {
  try {
    return before + writeValue(JSON.parse(body), style.indent, style) + after;
  } catch {
    return JSON.stringify(body);
  }
}

/**
 * @param {unknown} value
 * @param {number} indent
 * @param {Style} style
 * @returns {string}
 */
function writeValue(value, indent, style) {
  if (value === null || typeof value !== 'object') {
    const text = JSON.stringify(value);
    return style.words[text] ?? text;
  }
  const inner = indent + style.step;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const items = Object.entries(value).map(
    ([name, item]) =>
      (Array.isArray(value) ? '' : `${JSON.stringify(name)}: `) + writeValue(item, inner, style),
  );
  if (items.length === 0) return open + close;
  return `${open}\n${items.map((item) => `${' '.repeat(inner)}${item},\n`).join('')}${' '.repeat(indent)}${close}`;
}
