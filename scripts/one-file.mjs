/**
 * Options by which vite bundles a program and its packages into one `main.js`. Thousands of small files load slowly. A running
 * server also needs all its parts during the next build. lmdb stays outside, as it has native code.
 */
export function oneFile(source) {
  return {
    configFile: false,
    ssr: { noExternal: true, external: ['lmdb'] },
    build: {
      ssr: true,
      target: 'node20',
      minify: false,
      rollupOptions: { input: { main: source }, output: { entryFileNames: '[name].js', codeSplitting: false } },
    },
  }
}
