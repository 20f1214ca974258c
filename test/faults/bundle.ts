import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const cache = fileURLToPath(new URL('../../.cache', import.meta.url))

/** The server and its packages in one file that is gone with this process: a run starts it often, and so it starts in a third of the time. */
export async function bundleServer(): Promise<string> {
  mkdirSync(cache, { recursive: true })
  const outDir = mkdtempSync(join(cache, 'faults-'))
  process.once('exit', () => rmSync(outDir, { recursive: true, force: true }))
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, external: ['lmdb'] },
    build: {
      ssr: fileURLToPath(new URL('../../server/main.ts', import.meta.url)),
      outDir,
      target: 'node20',
      minify: false,
      rollupOptions: { output: { entryFileNames: 'main.js' } },
    },
  })
  return join(outDir, 'main.js')
}
