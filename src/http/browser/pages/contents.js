// The contents of the API docs: search, the operation that is being read, links to one, and a menu on narrow screens.

/** @param {string} id @returns {any} */
const find = (id) => document.getElementById(id);

/** @returns {HTMLAnchorElement[]} */
const links = () => [...find('contents').querySelectorAll('li > a')];

/** Shows only operations that have every word in their text. */
function search() {
  const words = find('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const link of links()) {
    const text = (find(link.hash.slice(1))?.textContent ?? '').toLowerCase();
    const isFound = words.every((/** @type {string} */ word) => text.includes(word));
    /** @type {HTMLElement} */ (link.parentElement).hidden = !isFound;
    if (isFound) found++;
  }
  const apart = find('contents').querySelector('details');
  apart.open = words.length > 0 || isApart(location.hash);
  for (const part of [...find('contents').querySelectorAll('h2'), apart]) {
    const list = part === apart ? apart.querySelector('ul') : part.nextElementSibling;
    part.hidden = list.querySelector('li:not([hidden])') === null;
  }
  find('search-state').textContent = words.length === 0 ? '' : found === 1 ? '1 found' : `${found} found`;
}

/** @param {string} hash */
function isApart(hash) {
  return find(hash.slice(1))?.closest('.apart') != null;
}

/** @param {boolean} isOpen */
function openMenu(isOpen) {
  find('contents').classList.toggle('open', isOpen);
  find('contents-open').setAttribute('aria-expanded', String(isOpen));
}

/** Marks the link of what is being read. @param {string} id */
function mark(id) {
  for (const link of links()) {
    const isCurrent = link.hash === `#${id}`;
    if (isCurrent) link.setAttribute('aria-current', 'location');
    else link.removeAttribute('aria-current');
    if (isCurrent) keepInView(link);
  }
}

/** Scrolls only the list. @param {HTMLElement} link */
function keepInView(link) {
  const list = find('contents');
  const [inner, outer] = [link.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inner.top < outer.top + 70) list.scrollTop -= outer.top + 70 - inner.top;
  else if (inner.bottom > outer.bottom - 20) list.scrollTop += inner.bottom - outer.bottom + 20;
}

/** Links of earlier versions were #/Events/searchNearby. */
function followHash() {
  const old = /^#\/\w+\/(\w+)$/.exec(location.hash)?.[1];
  if (old && find(old)) location.replace(`#${old}`);
  if (isApart(location.hash)) find('contents').querySelector('details').open = true;
}

export function wireContents() {
  find('search').addEventListener('input', search);
  find('search').addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Escape') {
      find('search').value = '';
      search();
    } else if (event.key === 'Enter') {
      links()
        .find((link) => link.parentElement?.hidden === false)
        ?.click();
    }
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = /** @type {Element} */ (event.target).closest('input, select, textarea, dialog');
    if (event.key === 'Escape') openMenu(false);
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    openMenu(true);
    find('search').focus();
  });
  find('contents-open').addEventListener('click', () => {
    openMenu(find('contents-open').getAttribute('aria-expanded') === 'false');
  });
  find('contents').addEventListener('click', (/** @type {any} */ event) => {
    if (event.target.closest('a')) openMenu(false);
  });
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) mark(target.id);
    },
    { rootMargin: '-90px 0px -75% 0px' },
  );
  for (const link of links()) {
    const target = find(link.hash.slice(1));
    if (target) observer.observe(target);
  }
  addEventListener('hashchange', followHash);
  followHash();
}
