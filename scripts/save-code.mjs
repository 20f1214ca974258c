import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Starts the server of a build on a store of its own. Once it is open, the code that V8 has compiled is saved. */
const [compiled = ''] = process.argv.splice(2)
const directory = mkdtempSync(join(tmpdir(), 'plaza-build-'))
process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
for (const name of Object.keys(process.env)) if (name !== 'PATH' && name !== 'HOME') delete process.env[name]
Object.assign(process.env, { DATA_DIR: directory, PORT: '0', OPS_PORT: '0', VIDEO_PROVIDER: 'none', DEMO: 'off' })

const opened = new Promise((resolve) => {
  console.log = (line) => /Plaza is open/.test(line) && resolve()
})
const { saveCode } = await import(pathToFileURL(compiled).href)
await opened
saveCode()
process.exit()
