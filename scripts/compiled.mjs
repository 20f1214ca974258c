import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, Script } from 'node:vm'

/** Runs the server's file by its compiled code. V8 compiles the file anew if that code is of another version. */
const filename = fileURLToPath(new URL('serve.cjs', import.meta.url))
const compiled = fileURLToPath(new URL('serve.code', import.meta.url))

const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(filename, 'latin1')}\n})`
const script = new Script(source, {
  filename,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  ...(existsSync(compiled) ? { cachedData: readFileSync(compiled) } : {}),
})
const program = { exports: {} }
script.runInThisContext()(program.exports, createRequire(filename), program, filename, dirname(filename))

/** Keeps the compiled code of all that has run. */
export function saveCode() {
  writeFileSync(compiled, script.createCachedData())
}
