import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '#shared/errors'
import type { RawRoute } from './http/raw-route.ts'

// Sources and build are both two folders below the root.
const root = fileURLToPath(new URL('../..', import.meta.url))
const own = (name: string) => join(root, 'server/kernel/docs', name)
const packaged = (name: string, file: string) =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file)

/** The Markdown documents of the server, with their paths. */
export const documents: readonly (readonly [path: `/${string}`, file: string])[] = existsSync(join(root, 'docs'))
  ? readdirSync(join(root, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => [`/docs/${name}`, join(root, 'docs', name)] as const)
  : []

const types = {
  html: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/plain',
} as const

const files = (built: string): readonly (readonly [path: `/${string}`, file: string, type: keyof typeof types])[] => [
  ['/docs', own('index.html'), 'html'],
  ['/docs/docs.css', own('docs.css'), 'css'],
  ['/docs/page.js', own('page.js'), 'js'],
  ['/docs/dom.js', own('dom.js'), 'js'],
  ['/docs/document.js', own('document.js'), 'js'],
  ['/docs/operation.js', own('operation.js'), 'js'],
  ['/docs/schema.js', own('schema.js'), 'js'],
  ['/docs/try.js', own('try.js'), 'js'],
  ['/docs/socket.io.js', packaged('socket.io-client', 'dist/socket.io.esm.min.js'), 'js'],
  ['/docs/openapi.json', join(built, 'openapi.json'), 'json'],
  ['/docs/asyncapi.json', join(built, 'asyncapi.json'), 'json'],
  ['/docs/rest', own('rest.html'), 'html'],
  ['/docs/rest.js', own('rest.js'), 'js'],
  ['/docs/swagger-ui.js', packaged('swagger-ui-dist', 'swagger-ui-bundle.js'), 'js'],
  ['/docs/swagger-ui.css', packaged('swagger-ui-dist', 'swagger-ui.css'), 'css'],
  ...documents.map(([path, file]) => [path, file, 'md'] as const),
]

/**
 * The two API documents, a page for both, and the Markdown documents, without external files.
 *
 * @param built The folder into which `scripts/build.mjs` writes the API documents.
 * @param retention The lifetimes of stored data in this installation.
 */
export const docsRoutes = (built = join(root, 'dist/docs'), retention = ''): readonly RawRoute[] => [
  {
    path: '/docs/retention',
    answer: 'file',
    give: (_request, response) => Boolean(response.type('text/plain; charset=utf-8').send(retention)),
  },
  ...files(built).map(
    ([path, file, type]): RawRoute => ({
      path,
      answer: 'file',
      give(_request, response) {
        if (!existsSync(file))
          throw new AppError('NOT_FOUND', { message: `${basename(file)} is not built: npm run build` })
        response.type(`${types[type]}; charset=utf-8`).sendFile(basename(file), { root: dirname(file), etag: true })
        return true
      },
    }),
  ),
]
