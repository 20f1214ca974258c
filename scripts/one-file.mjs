/** V8 keeps the whole text of a program in memory. Licences stay. */
const shared = { codeSplitting: false, comments: { annotation: false, jsdoc: false } }

/**
 * Options by which vite bundles a program and its packages into one `main.js`. Thousands of small files load slowly. A running
 * server also needs all its parts during the next build. lmdb stays outside, as it has native code. `beside` names imports that
 * are files at the side of the program.
 */
export function oneFile(source, beside = {}) {
  return {
    configFile: false,
    plugins: [
      { name: 'beside', enforce: 'pre', resolveId: (name) => beside[name] && { id: beside[name], external: true } },
    ],
    ssr: { noExternal: true, external: ['lmdb'] },
    build: {
      ssr: true,
      target: 'node20',
      minify: false,
      emptyOutDir: false,
      rollupOptions: { input: { main: source }, output: { ...shared, entryFileNames: '[name].js' } },
    },
  }
}

/** The same into one `.cjs` of the program's name, which needs no loader of modules. */
export function oneScript(source, name) {
  const { build, ...settings } = oneFile(source)
  const output = { ...shared, format: 'cjs', dynamicImportInCjs: false, entryFileNames: '[name].cjs' }
  return { ...settings, build: { ...build, rollupOptions: { input: { [name]: source }, output } } }
}
