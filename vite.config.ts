import { basename } from 'node:path'
import react from '@vitejs/plugin-react'
import compile from 'icu-minify/compile'
import { defineConfig, parseSync } from 'vite'
import { contractValues } from './scripts/contract-values.mjs'

/** The client connects by WebSockets alone: the other ways to carry a connection stay out of the page. */
const webSocketsAlone = {
  name: 'web-sockets-alone',
  enforce: 'pre' as const,
  load: (id: string) =>
    /engine\.io-client.*transports\/(polling-xhr|webtransport)\.js$/.test(id)
      ? 'export class XHR {}\nexport class BaseXHR {}\nexport class Request {}\nexport class WT {}'
      : null,
}

/** What is sent and told is text: what takes binary apart for the socket stays out of the page. */
const textAlone = {
  name: 'text-alone',
  enforce: 'pre' as const,
  load(id: string) {
    if (/socket\.io-parser.*esm\/is-binary\.js$/.test(id))
      return 'export const isBinary = () => false\nexport const hasBinary = isBinary'
    if (/socket\.io-parser.*esm\/binary\.js$/.test(id))
      return 'export const deconstructPacket = (packet) => ({ packet, buffers: [] })\nexport const reconstructPacket = (packet) => packet'
    return /engine\.io-parser.*contrib\/base64-arraybuffer\.js$/.test(id) ? 'export const decode = () => null' : null
  },
}

/** What seals direct messages asks for the module of old versions of Node; no browser needs it. */
const withoutNodeCrypto = {
  name: 'without-node-crypto',
  enforce: 'pre' as const,
  resolveId: (id: string) => (id === 'crypto' ? '\0no-crypto' : null),
  load: (id: string) => (id === '\0no-crypto' ? 'export const webcrypto = undefined' : null),
}

/** Texts with variables are compiled here, so that the parser of messages stays out of the page. */
const compiledTexts = {
  name: 'compiled-texts',
  enforce: 'pre' as const,
  load: (id: string) => (/icu-minify.*\/compile\.js$/.test(id) ? 'export default (message) => message' : null),
  transform(code: string, id: string) {
    if (!/client\/web\/texts\//.test(id) || !/textCatalog\('|TextTranslation<typeof /.test(code)) return null
    const messages: { value: string; start: number; end: number }[] = []
    JSON.stringify(parseSync(id, code).program, (_key, node) => {
      if (node?.type === 'Literal' && /[{<]/.test(node.value)) messages.push(node)
      return node
    })
    const written = ({ value }: { value: string }) => JSON.stringify(compile(value))
    return messages.reduceRight(
      (rest, message) => rest.slice(0, message.start) + written(message) + rest.slice(message.end),
      code,
    )
  },
}

export default defineConfig({
  root: 'client/web',
  plugins: [react(), contractValues(), webSocketsAlone, textAlone, withoutNodeCrypto, compiledTexts],
  css: {
    modules: {
      localsConvention: 'camelCaseOnly',
      generateScopedName: (name, file) => `${basename(file, '.module.css')}__${name}`,
    },
  },
  build: {
    outDir: '../../dist/page',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    // Every browser of that target preloads modules by itself.
    modulePreload: {
      polyfill: false,
      // The welcome screen would carry the names of all parts of these: they are found as the first of them loads.
      resolveDependencies: (file, parts) =>
        /guest-streams|agent-page|pages|home/.test(file)
          ? parts.filter((part) => part === file || part.endsWith('.css'))
          : parts,
    },
    // What every screen has is one file, as the head of an answer takes more than a kilobyte.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'common',
              test: /shared.errors|web.kit.(format|problem|icon|lazy-boundary|use-loaded|toasts|notice)|web.connection.client|client.sdk.(?!runs?\b|run-state|streams?\b|direct[\\/]|media)|preload-helper|rolldown.runtime|node_modules.(react|socket\.io|engine\.io|uuid)/,
            },
          ],
        },
      },
    },
  },
})
