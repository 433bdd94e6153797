// The build of the console: one script and one style sheet, with hashed names, that need no other host and nothing inline.
import { defineConfig, type Plugin } from 'vite';

/** The first picture waits for the script, so that a chosen theme does not begin with a flash of the other. */
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
    // Pictures stay files: the page may not show any from a data address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
