import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, open, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEmbedded } from '#server/ports/database/embedded'
import { build, programs } from '#test/support/programs'

const long = 120_000
let root = ''
let made = 0

beforeAll(async () => {
  build()
  root = await mkdtemp(join(tmpdir(), 'plaza-broken-'))
  const store = await openEmbedded(join(root, 'good'))
  const rows = Array.from({ length: 500 }, (_, at) => ({ _id: `m${at}`, text: 'x'.repeat(200) }))
  await store.db().collection('messages').insertMany(rows)
  await store.close()
}, long)
afterAll(() => rm(root, { recursive: true, force: true }))

const junk = (bytes: number) => Buffer.from(Array.from({ length: bytes }, (_, at) => (at * 7919) % 251))
const put = (name: string, bytes: Buffer | string) => (at: string) => writeFile(join(at, name), bytes)

async function overwrite(at: string, places: readonly number[], bytes: Buffer): Promise<void> {
  const file = await open(join(at, 'data.mdb'), 'r+')
  for (const place of places) await file.write(bytes, 0, bytes.length, place)
  await file.close()
}
const cutTo = (share: number) => async (at: string) =>
  truncate(join(at, 'data.mdb'), Math.floor((await stat(join(at, 'data.mdb'))).size * share))

/** What somebody finds in a directory, or below it, in place of a store. */
type Breaks = (at: string) => Promise<unknown>
const empty: Record<string, Breaks> = {
  'junk for a store': put('data.mdb', junk(100_000)),
  'text for a store': put('data.mdb', 'hello'),
  'zeroes for a store': put('data.mdb', Buffer.alloc(65_536)),
  'a directory for a store': (at) => mkdir(join(at, 'data.mdb')),
  'a link that leads nowhere for a store': (at) => symlink('/nowhere/data.mdb', join(at, 'data.mdb')),
  'a link to itself for a store': (at) => symlink(join(at, 'data.mdb'), join(at, 'data.mdb')),
  'a directory for a lock': (at) => mkdir(join(at, 'lock')),
  'a directory for a lock of the engine': (at) => mkdir(join(at, 'lock.mdb')),
}
const full: Record<string, Breaks> = {
  'a store of two pages': (at) => truncate(join(at, 'data.mdb'), 9_000),
  'half a store': cutTo(0.5),
  'a store whose first pages are junk': (at) => overwrite(at, [16, 4_096 + 16], junk(60)),
  'a store whose lists of pages are junk': (at) => overwrite(at, [40, 4_096 + 40], junk(100)),
  'a store of which the first pages alone are left': async (at) => {
    const { size } = await stat(join(at, 'data.mdb'))
    await overwrite(at, [8_192], junk(size - 8_192))
  },
}

async function directoryWith(breaks: Breaks, from: string | null): Promise<string> {
  const directory = join(root, `d${++made}`)
  if (from) await cp(join(root, from), directory, { recursive: true })
  else await mkdir(directory)
  await breaks(directory)
  return directory
}

const sentence = /^[^\n]+$/

describe('N75: a directory that is no store is told of before anything opens it', () => {
  test.each([
    ...Object.entries(empty).map((each) => [...each, null] as const),
    ...Object.entries(full).map((each) => [...each, 'good'] as const),
  ])('%s', async (_, breaks, from) => {
    const directory = await directoryWith(breaks, from)
    for (let time = 0; time < 2; time++) {
      const error = await openEmbedded(directory).then(
        () => null,
        (refused: unknown) => refused as NodeJS.ErrnoException,
      )
      expect(error).not.toBeNull()
      expect(error?.code).toMatch(/^(EDAMAGED|ELOOP)$/)
    }
  })

  test('an empty file is a store that nothing was written to, and junk beside the store does no harm', async () => {
    const store = await openEmbedded(await directoryWith(put('data.mdb', ''), null))
    await store.close()
    const other = await openEmbedded(await directoryWith(put('lock.mdb', junk(9_000)), 'good'))
    expect(await other.db().collection('messages').countDocuments({})).toBe(500)
    await other.close()
  })
})

describe('N75, N76: the server ends at once with one sentence, whatever it is started on', { timeout: long }, () => {
  const file = () => join(root, 'a-file')
  beforeAll(() => writeFile(file(), 'x'))

  async function started(environment: Record<string, string>) {
    const { PATH = '' } = process.env
    const data = join(root, `d${++made}`)
    const child = spawn(process.execPath, [programs.main], {
      env: { PATH, DATA_DIR: data, PORT: '0', DEMO: 'off', VIDEO_PROVIDER: 'none', ...environment },
    })
    const late = setTimeout(() => child.kill('SIGKILL'), long / 4)
    const [complaint, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'exit'), text(child.stdout)])
    clearTimeout(late)
    return { code, signal, complaint: complaint.trimEnd() }
  }

  test.each([
    ['a file in its place', () => ({ DATA_DIR: file() }), 'a-file cannot be used: '],
    ['a file above it', () => ({ DATA_DIR: join(file(), 'deep') }), 'cannot be used: not a directory (ENOTDIR).'],
    ['a place where none can be made', () => ({ DATA_DIR: '/proc/plaza' }), '/proc/plaza cannot be used: '],
    ['a name that is too long', () => ({ DATA_DIR: join(root, 'x'.repeat(300)) }), '(ENAMETOOLONG).'],
    ['an address of another machine', () => ({ HOST: '192.0.2.1' }), 'HOST or PORT cannot be used: '],
    ['a host that nobody knows', () => ({ HOST: 'nowhere.invalid' }), 'HOST cannot be used: nowhere.invalid '],
    ['a database that has no such form', () => ({ MONGODB_URI: 'mongodb://:::' }), 'MONGODB_URI cannot be used: '],
  ])('%s', async (_, environment, says) => {
    const { code, signal, complaint } = await started(environment())
    expect({ code, signal }).toEqual({ code: 1, signal: null })
    expect(complaint).toMatch(sentence)
    expect(complaint).toContain(says)
  })

  test.each(['session-keys', 'files'])('%s of another kind', async (name) => {
    const directory = await directoryWith(
      name === 'session-keys' ? (at) => mkdir(join(at, name)) : put(name, 'x'),
      'good',
    )
    const { code, complaint } = await started({ DATA_DIR: directory })
    expect(code).toBe(1)
    expect(complaint).toMatch(sentence)
    expect(complaint).toContain(name)
  })
})
