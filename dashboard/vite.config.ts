/**
 * How the page is built: into dist/dashboard, with nothing inline, so that the server can forbid everything
 * inline.
 */
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: 'es2022',
  },
  server: { proxy: { '/v1': 'http://127.0.0.1:7878' } },
})
