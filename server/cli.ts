import { parseArgs } from 'node:util'
import { readStore } from './environment.ts'
import { operatorSentenceOf } from './kernel/plain-errors.ts'
import { ConfigError } from './kernel/settings.ts'
import { copies } from './platform/database.ts'
import { filesIn } from './platform/files.ts'
import { NoDatabase } from './ports/database/port.ts'

const usage = `The store of this installation, as DATA_DIR says where it is.

  npm run plaza -- backup <file>     its state at this moment, also while the server runs, to a new file, with what people uploaded to DATA_DIR;
                                     with --recordings also the recordings of livestreams
  npm run plaza -- verify            reads the whole store and its files, also while the server runs, and says what is damaged
  npm run plaza -- verify <file>     reads a backup to its end
  npm run plaza -- restore <file>    makes a store out of a backup where DATA_DIR has none, and puts its files and recordings there
  npm run plaza -- export [<uri>]    copies it to an empty MongoDB database; without <uri>, that of MONGODB_URI`

try {
  await run()
} catch (error) {
  console.error(operatorSentenceOf(error, ConfigError, copies.CopyError, NoDatabase) ?? error)
  process.exitCode = 1
}

async function run(): Promise<void> {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { recordings: { type: 'boolean' } } })
  const [command, target, ...rest] = positionals
  if (rest.length > 0 || (values.recordings && command !== 'backup')) throw new ConfigError(usage)
  const { dataDirectory, mongodbUri, s3Endpoint, recordings } = readStore()
  const files = filesIn(dataDirectory)
  const isOfStore = command === 'backup' || (command === 'verify' && target === undefined)
  if (isOfStore && mongodbUri)
    throw new ConfigError('The store is MongoDB, which has tools of its own: see docs/operations.md.')
  if (command === 'backup' && target !== undefined) {
    const taken = values.recordings ? recordings : null
    tell(`Backed up to ${target}`, await copies.backUp(dataDirectory, target, s3Endpoint ? null : files, taken))
    return taken === null ? tellLeftOut(recordings, await copies.recordingsIn(recordings)) : undefined
  }
  if (command === 'verify' && target === undefined) {
    for await (const line of copies.verifyStore(dataDirectory)) console.log(line)
    console.log(
      s3Endpoint ? 'files: in the buckets of S3_ENDPOINT, not read' : await copies.verifyFiles(dataDirectory, files),
    )
    return console.log(`The store in ${dataDirectory} is whole.`)
  }
  if (command === 'verify' && target !== undefined) return tell(`${target} is whole`, await copies.verifyBackup(target))
  if (command === 'restore' && target !== undefined)
    return tell(`Restored into ${dataDirectory}`, await copies.restore(target, dataDirectory, files, recordings))
  const uri = target ?? mongodbUri
  if (command === 'export' && uri !== undefined)
    return tell('Exported', { documents: await copies.exportTo(dataDirectory, uri), files: null })
  throw new ConfigError(usage)
}

function tell(done: string, { documents, files, recordings = 0 }: copies.Copied): void {
  const rows = Object.entries(documents)
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  const total = rows.reduce((sum, [, { count }]) => sum + count, 0)
  console.log(`${done}: ${total} documents, counted and compared.`)
  const lineOf = (name: string, { count, checksum }: { count: number; checksum: string }) =>
    `  ${name.padEnd(width)}  ${String(count).padStart(8)}  ${checksum.slice(0, 16)}`
  for (const [name, sum] of rows) console.log(lineOf(name, sum))
  const made = recordings > 0 ? ` and ${counted(recordings, 'recording')} of livestreams` : ''
  // Of each recording there are two.
  const uploaded = files && files.count - 2 * recordings
  console.log(
    files
      ? `With them ${uploaded} files that people uploaded${made}, checksum ${files.checksum.slice(0, 16)}.`
      : 'Files that people uploaded are not among them: copy the buckets of S3_ENDPOINT, or DATA_DIR/files, apart.',
  )
}

function tellLeftOut(folder: string, { count, bytes }: { count: number; bytes: number }): void {
  if (count === 0) return
  const size = `${(bytes / 1e6).toFixed(1)} MB`
  console.log(
    `${counted(count, 'recording')} of livestreams, ${size} in ${folder}, left out: --recordings takes them, too.`,
  )
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
