import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, mkdtemp, open, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
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
  await chmod(root, 0o755)
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
const pipe = async (path: string) => execFileSync('mkfifo', [path])
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
  'a pipe for a lock': (at) => pipe(join(at, 'lock')),
  'an empty file beside a key that was made': async (at) => {
    await put('data.mdb', '')(at)
    await put('session-keys', 'k:secret')(at)
  },
  'an empty file beside what people have uploaded': async (at) => {
    await put('data.mdb', '')(at)
    await mkdir(join(at, 'files'))
  },
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

  test('a store that ends at any of its pages', async () => {
    const directory = await directoryWith(async () => undefined, 'good')
    const path = join(directory, 'data.mdb')
    const { size } = await stat(path)
    for (let pages = Math.floor(size / 4_096) - 1; pages > 0; pages--) {
      await truncate(path, pages * 4_096 + 808)
      await expect(openEmbedded(directory), `${pages} pages`).rejects.toMatchObject({ code: 'EDAMAGED' })
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
  const streams = (environment: Record<string, string>) => ({ VIDEO_PROVIDER: 'selfhosted', ...environment })
  beforeAll(() => writeFile(file(), 'x'))

  async function run(program: string, given: readonly string[], environment: Record<string, string>, prefix: string[]) {
    const { PATH = '' } = process.env
    const [command = '', ...before] = [...prefix, process.execPath]
    const child = spawn(command, [...before, program, ...given], { env: { PATH, ...environment } })
    const late = setTimeout(() => child.kill('SIGKILL'), long / 4)
    const [complaint, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'exit'), text(child.stdout)])
    clearTimeout(late)
    return { code, signal, complaint: complaint.trimEnd() }
  }
  const started = (environment: Record<string, string>, prefix: string[] = []) => {
    const data = { DATA_DIR: join(root, `d${++made}`), PORT: '0', DEMO: 'off', VIDEO_PROVIDER: 'none' }
    return run(programs.main, [], { ...data, ...environment }, prefix)
  }
  const tool = (given: readonly string[], directory: string, prefix: string[] = []) =>
    run(programs.cli, given, { DATA_DIR: directory }, prefix)

  test.each([
    ['a file in its place', () => ({ DATA_DIR: file() }), 'a-file cannot be used: '],
    ['a file above it', () => ({ DATA_DIR: join(file(), 'deep') }), 'cannot be used: not a directory (ENOTDIR).'],
    ['a place where none can be made', () => ({ DATA_DIR: '/proc/plaza' }), '/proc/plaza cannot be used: '],
    ['a name that is too long', () => ({ DATA_DIR: join(root, 'x'.repeat(300)) }), '(ENAMETOOLONG).'],
    ['an address of another machine', () => ({ HOST: '192.0.2.1' }), 'HOST cannot be used: '],
    ['a host that nobody knows', () => ({ HOST: 'nowhere.invalid' }), 'HOST cannot be used: nowhere.invalid '],
    ['a host of operators that nobody knows', () => ({ OPS_HOST: 'nowhere.invalid' }), 'OPS_HOST cannot be used: '],
    ['an address of operators elsewhere', () => ({ OPS_HOST: '192.0.2.1' }), 'OPS_HOST cannot be used: '],
    [
      'a host of encoders that nobody knows',
      () => streams({ RTMP_HOST: 'nowhere.invalid' }),
      'RTMP_HOST cannot be used: ',
    ],
    ['an address of encoders elsewhere', () => streams({ RTMP_HOST: '192.0.2.1' }), 'RTMP_HOST cannot be used: '],
    [
      'a file for livestreams',
      () => streams({ MEDIA_DIR: file() }),
      'a-file cannot be used: not a directory (ENOTDIR).',
    ],
    ['a file above livestreams', () => streams({ MEDIA_DIR: join(file(), 'deep') }), 'MEDIA_DIR: '],
    [
      'a database whose name nobody knows',
      () => ({ MONGODB_URI: 'mongodb://nowhere.invalid' }),
      'MONGODB_URI cannot be used: ',
    ],
    ['a database that has no such form', () => ({ MONGODB_URI: 'mongodb://:::' }), 'MONGODB_URI cannot be used: '],
  ])('%s', async (_, environment, says) => {
    const { code, signal, complaint } = await started(environment())
    expect({ code, signal }).toEqual({ code: 1, signal: null })
    expect(complaint).toMatch(sentence)
    expect(complaint).toContain(says)
  })

  const another = 65_534
  /** Root without what lets it open everything. */
  const withoutRights = ['setpriv', '--inh-caps=-all', '--bounding-set=-all']
  describe.skipIf(process.getuid?.() !== 0)('files that the one who starts it may not open', () => {
    test.each(
      ['lock.mdb', 'data.mdb'].flatMap((name) => [0o600, 0o644].map((mode) => [name, mode.toString(8)] as const)),
    )('%s of another user, %s', async (name, mode) => {
      const directory = await directoryWith(async (at) => {
        await chown(join(at, name), another, another)
        await chmod(join(at, name), Number.parseInt(mode, 8))
      }, 'good')
      for (const { code, complaint } of [
        await started({ DATA_DIR: directory }, withoutRights),
        await tool(['verify'], directory, withoutRights),
      ]) {
        expect(code).toBe(1)
        expect(complaint).toBe(`${join(directory, name)} cannot be used: permission denied (EACCES).`)
      }
    })
  })

  const mount = (at: string, size: string) =>
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', at]).status === 0
  test.skipIf(process.getuid?.() !== 0)(
    'N70, N75: a disk that is full, of which nothing but that is printed',
    async (context) => {
      const disk = join(root, 'disk')
      const file = join(root, 'full.gz')
      await mkdir(disk)
      if (!mount(disk, '100k')) return context.skip()
      try {
        expect(await started({ DATA_DIR: disk })).toMatchObject({ code: 1, complaint: expect.stringMatching(sentence) })
        expect((await tool(['backup', file], join(root, 'good'))).code).toBe(0)
        const restored = await tool(['restore', file, '--without-erasures'], join(disk, 'data'))
        expect(restored.complaint).toBe(`${join(disk, 'data')} cannot be written: the disk is full (ENOSPC).`)
        await writeFile(join(disk, 'rest'), Buffer.alloc(200_000)).catch(() => undefined)
        const copy = await tool(['backup', join(disk, 'copy.gz')], join(root, 'good'))
        expect(copy.complaint).toBe(`${join(disk, 'copy.gz')} cannot be written: the disk is full (ENOSPC).`)
      } finally {
        spawnSync('umount', [disk])
      }
    },
  )

  test('N70, N75: a place below which no folder can be made', async () => {
    const file = join(root, 'backup.gz')
    expect((await tool(['backup', file], join(root, 'good'))).code).toBe(0)
    for (const { code, complaint } of [
      await tool(['restore', file, '--without-erasures'], '/proc/plaza'),
      await tool(['backup', '/proc/plaza/backup.gz'], join(root, 'good')),
      await started({ VIDEO_PROVIDER: 'selfhosted', MEDIA_DIR: '/proc/plaza' }),
    ])
      expect([code, complaint]).toEqual([1, expect.stringMatching(/^[^\n]*\/proc\/plaza cannot be used: [^\n]+$/)])
  })

  test.skipIf(process.getuid?.() !== 0)('N75: a directory that the one who backs it up may not enter', async () => {
    const directory = await directoryWith(async (at) => {
      await chmod(at, 0o700)
      await chown(at, another, another)
    }, 'good')
    const { code, complaint } = await tool(['backup', join(root, 'of-another.gz')], directory, withoutRights)
    expect(code).toBe(1)
    expect(complaint).toBe(`${join(directory, 'data.mdb')} cannot be used: permission denied (EACCES).`)
  })

  test('a pipe for a key, or for a backup', async () => {
    const directory = await directoryWith((at) => pipe(join(at, 'session-keys')), 'good')
    const { code, complaint } = await started({ DATA_DIR: directory })
    expect([code, complaint]).toEqual([1, expect.stringContaining('session-keys in DATA_DIR is not usable')])
    const file = join(directory, 'session-keys')
    for (const command of [['verify'], ['restore', '--without-erasures']]) {
      const said = await tool([...command, file], join(root, 'nowhere'))
      expect([said.code, said.complaint]).toEqual([1, `${file} is no regular file.`])
    }
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
