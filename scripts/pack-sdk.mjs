// Builds the client as the package `plaza-sdk` and packs it: node scripts/pack-sdk.mjs [folder]
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { contractValues } from './contract-values.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = resolve(process.argv[2] ?? join(root, 'dist/sdk'))
const entry = join(root, 'client/sdk/index.ts')
const { version, description, license, engines, dependencies } = JSON.parse(readFileSync(join(root, 'package.json')))

const manifest = {
  name: 'plaza-sdk',
  version,
  description: `${description} Its client, for browsers and Node.`,
  license,
  type: 'module',
  sideEffects: false,
  engines,
  exports: {
    '.': {
      types: './types/client/sdk/index.d.ts',
      node: './node.js',
      default: './browser.js',
    },
  },
  imports: { '#shared/*': './types/shared/*.d.ts' },
  // The types name it; nothing of it runs.
  dependencies: { zod: dependencies.zod },
}

// Leaves out code for developers, even if a test packs it.
process.env.NODE_ENV = 'production'
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
await bundle('browser')
await bundle('node')
emitTypes()
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'))
copyFileSync(join(root, 'client/sdk/README.md'), join(out, 'README.md'))
writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
const packed = execFileSync('npm', ['pack', '--json', '--offline', '--ignore-scripts'], {
  cwd: out,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
})
console.log(join(out, JSON.parse(packed)[0].filename))

async function bundle(platform) {
  const isNode = platform === 'node'
  await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    plugins: [contractValues()],
    ssr: { noExternal: true },
    build: {
      ssr: isNode ? entry : false,
      lib: isNode ? undefined : { entry, formats: ['es'], fileName: platform },
      outDir: out,
      emptyOutDir: false,
      minify: true,
      target: isNode ? 'node20' : 'es2022',
      rollupOptions: { output: { entryFileNames: `${platform}.js` } },
    },
  })
}

function emitTypes() {
  const config = join(out, 'tsconfig.json')
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: root,
    outDir: join(out, 'types'),
    types: [],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  const from = (path) => relative(out, join(root, path))
  writeFileSync(
    config,
    JSON.stringify({
      extends: from('tsconfig.json'),
      compilerOptions,
      include: [],
      files: [from('client/sdk/index.ts')],
    }),
  )
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', config], { cwd: root, stdio: 'inherit' })
  rmSync(config)
}
