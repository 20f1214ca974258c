import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { readStore } from './environment.ts'
import { erasuresFileIn, erasuresOf, readErasures } from './kernel/erasure-list.ts'
import { operatorSentenceOf } from './kernel/http/plain-errors.ts'
import { ConfigError } from './kernel/settings.ts'
import { copies } from './platform/database.ts'
import { filesIn } from './platform/files.ts'
import { NoDatabase } from './ports/database/port.ts'

const usage = `The store of this installation, as DATA_DIR says where it is.

  npm run plaza -- backup <file>     its state at this moment, also while the server runs, to a new file, with what people uploaded to DATA_DIR;
                                     with --recordings also the recordings of livestreams
  npm run plaza -- verify            reads the whole store and its files, also while the server runs, and says what is damaged
  npm run plaza -- verify <file>     reads a backup to its end
  npm run plaza -- restore <file>    makes a store out of a backup where DATA_DIR has none, and puts its files and recordings there;
                                     DATA_DIR/erasures.jsonl says who was deleted since; without it, asks, or needs --without-erasures
  npm run plaza -- compact           writes the store of a stopped server anew, and overwrites what was deleted from it
  npm run plaza -- export [<uri>]    copies it to an empty MongoDB database; without <uri>, that of MONGODB_URI`

const options = { recordings: { type: 'boolean' }, 'without-erasures': { type: 'boolean' } } as const

try {
  await run()
} catch (error) {
  console.error(operatorSentenceOf(error, ConfigError, copies.CopyError, NoDatabase) ?? error)
  process.exitCode = 1
}

async function run(): Promise<void> {
  const { positionals, values } = parseArgs({ allowPositionals: true, options })
  const [command, target, ...rest] = positionals
  const isMisplaced =
    (values.recordings && command !== 'backup') || (values['without-erasures'] && command !== 'restore')
  if (rest.length > 0 || isMisplaced) throw new ConfigError(usage)
  const { dataDirectory, mongodbUri, s3Endpoint, recordings } = readStore()
  const files = filesIn(dataDirectory)
  const isOfStore = command === 'backup' || (['verify', 'compact'].includes(command ?? '') && target === undefined)
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
  if (command === 'compact' && target === undefined) {
    const { before, after } = await copies.compact(dataDirectory)
    return console.log(`Compacted the store in ${dataDirectory}: ${megabytes(after)}, was ${megabytes(before)}.`)
  }
  if (command === 'verify' && target !== undefined) return tell(`${target} is whole`, await copies.verifyBackup(target))
  if (command === 'restore' && target !== undefined)
    return restore(target, dataDirectory, recordings, values['without-erasures'] ?? false)
  const uri = target ?? mongodbUri
  if (command === 'export' && uri !== undefined)
    return tell('Exported', { documents: await copies.exportTo(dataDirectory, uri), files: null })
  throw new ConfigError(usage)
}

/** Accounts that were deleted since the backup are deleted again by the first start, by the list of erasures. */
async function restore(file: string, dataDirectory: string, recordings: string, isWithout: boolean): Promise<void> {
  const erasures = await readErasures(erasuresFileIn(dataDirectory))
  if (erasures === null && !isWithout) await refuseUnasked(dataDirectory)
  const erasureOf = erasuresOf(erasures ?? [])
  let erased = 0
  const look = (collection: string, { _id, created_at }: { _id?: unknown; created_at?: unknown }) => {
    if (collection === 'accounts' && created_at instanceof Date && erasureOf(String(_id), created_at)) erased += 1
  }
  const copied = await copies.restore(file, dataDirectory, filesIn(dataDirectory), recordings, look)
  tell(`Restored into ${dataDirectory}`, copied)
  if (erasures === null) return console.log('Without erasures.jsonl: accounts deleted since the backup are back.')
  console.log(`${counted(erased, 'account')} deleted since the backup: the first start deletes them again.`)
}

async function refuseUnasked(dataDirectory: string): Promise<void> {
  const lack = `There is no erasures.jsonl in ${dataDirectory}, so accounts that were deleted since the backup come back.`
  if (process.stdin.isTTY) {
    const asking = createInterface({ input: process.stdin, output: process.stdout })
    const answer = await asking.question(`${lack} Restore without it? (yes/no) `).finally(() => asking.close())
    if (answer.trim().toLowerCase() === 'yes') return
  }
  throw new ConfigError(`${lack} Put that file there first, or say --without-erasures.`)
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
  console.log(
    `${counted(count, 'recording')} of livestreams, ${megabytes(bytes)} in ${folder}, left out: --recordings takes them, too.`,
  )
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
