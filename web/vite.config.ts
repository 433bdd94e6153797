// Build of the console: one script and one style sheet with hashed names, without other hosts and inline code.
import { defineConfig, type Plugin } from 'vite';

/** Delays the first paint until the script has run, so that a chosen theme does not start with a flash of the other. */
const drawOnce: Plugin = {
  name: 'draw-once',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: '/admin/',
  publicDir: false,
  plugins: [drawOnce],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    // Images stay files: the Content-Security-Policy allows no data URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
