/**
 * How vite makes `main.js` of a program, one file with its packages: thousands of small ones take longer to read than to run, and a server that
 * runs while the next one is built must not miss a part. lmdb stays outside: it is not only JavaScript.
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
