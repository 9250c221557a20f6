/** How the web UI is built: `npm run build` writes `web/dist`, which the service serves (D132). */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import optimizeLocales from '@react-aria/optimize-locales-plugin'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Where `npm run dev` finds the service. */
const service = process.env.DEALWRIGHT_URL ?? 'http://127.0.0.1:3000'

/**
 * Writes `.br` and `.gz` beside each file. After the build, from the disk: Vite still changes the code while
 * it makes the bundle.
 */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    writeBundle({ dir }) {
      for (const entry of readdirSync(dir!, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(js|css|html|svg|json)$/.test(entry.name)) continue
        const path = join(entry.parentPath, entry.name)
        const bytes = readFileSync(path)
        writeFileSync(`${path}.br`, brotliCompressSync(bytes))
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
      }
    },
  }
}

/** A browser gets the page at an address of the documentation, as from the service. */
const pageOf = ({ headers: { accept = '' } }: IncomingMessage) =>
  accept.includes('text/html') ? '/index.html' : undefined

// biome-ignore lint/style/noDefaultExport: Vite wants one
export default defineConfig({
  root: import.meta.dirname,
  plugins: [
    react(),
    tailwind(),
    // The texts of the widgets are English, as are ours; dates and numbers follow the user's locale.
    { ...optimizeLocales.vite({ locales: ['en-US'] }), enforce: 'pre' },
    compressed(),
  ],
  build: {
    target: 'es2023',
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
    // One file for all that every page loads: many small ones compress worse.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }] } },
    },
  },
  server: {
    proxy: { '/rest': service, '/docs': { target: service, bypass: pageOf }, '/openapi.json': service },
  },
})
