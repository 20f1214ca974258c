import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express, { type Express } from 'express'

const directory = fileURLToPath(new URL('../../dist/page', import.meta.url))

/** The web app, where it has been built. Its assets carry hashes in their names; the page itself is never kept. */
export function mountPage(app: Express): void {
  if (!existsSync(join(directory, 'index.html'))) return
  app.use('/assets', express.static(join(directory, 'assets'), { immutable: true, maxAge: '365d', fallthrough: true }))
  app.use(
    express.static(directory, {
      index: 'index.html',
      cacheControl: false,
      setHeaders: (response) => response.setHeader('Cache-Control', 'no-cache'),
    }),
  )
}
