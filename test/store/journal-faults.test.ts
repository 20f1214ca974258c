import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type EmbeddedStore, openEmbedded } from '#server/ports/database/embedded'
import { Commits } from '#server/ports/database/embedded/commits'
import { batchesIn, createJournal, JOURNAL_FILE, type Mark, markIn } from '#server/ports/database/embedded/journal'
import { LockLost } from '#server/ports/database/embedded/lock'
import { Pending, type Row } from '#server/ports/database/embedded/pending'
import { freshDirectory, opened } from './directories.ts'
import { crashed, idsIn, journalledIn } from './journalled.ts'

const failed = (run: Promise<unknown>) => run.then(() => null).catch((error) => error)

/** From now on the journal of this process cannot be written to: what is written goes to a disk that is full. */
function breakJournal(directory: string): void {
  const fds = readdirSync('/proc/self/fd').map(Number)
  const fd = fds.find((each) => linkOf(each) === join(directory, JOURNAL_FILE))
  if (fd === undefined) throw new Error('The journal is not open.')
  closeSync(fd)
  const lower: number[] = []
  for (let full = openSync('/dev/full', 'w'); full !== fd; full = openSync('/dev/full', 'w')) lower.push(full)
  for (const each of lower) closeSync(each)
}

function linkOf(fd: number): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return null
  }
}

describe('S8: a journal that cannot be written to', { skip: process.platform !== 'linux' }, () => {
  test('keeps nobody waiting: what comes is committed, and later a new journal is made', async () => {
    const directory = await freshDirectory()
    const store = await opened(directory)
    const things = await journalledIn(store)
    await things.insertMany([{ _id: 'a' }])
    const { commits } = store.counters
    breakJournal(directory)
    await Promise.all(['b', 'c'].map((_id) => things.insertMany([{ _id }])))
    expect(store.counters.commits).toBeGreaterThan(commits)
    const wanted = ['a', 'b', 'c', 'first']
    expect(await idsIn(store)).toEqual(wanted)
    expect(await idsIn(await opened(await crashed(directory)))).toEqual(wanted)
    await things.insertMany([{ _id: 'd' }])
    const again = store.counters.commits
    await things.insertMany([{ _id: 'e' }])
    expect(store.counters.commits).toBe(again)
    expect(await idsIn(await opened(await crashed(directory)))).toEqual([...wanted.slice(0, 3), 'd', 'e', 'first'])
  })

  const row = (_id: string): Row => ({
    namespace: 'plaza.things',
    bytes: Buffer.from(JSON.stringify({ _id })),
    keys: [_id],
    insert: () => undefined,
  })

  test('that takes the bytes and then fails: nothing of that batch comes back, and its number is not used again', async () => {
    const directory = await freshDirectory()
    let isBroken = false
    const pending = new Pending(directory, async (...given) => {
      const file = await createJournal(...given)
      onTestFinished(() => file.close())
      const write: typeof file.write = async (bytes, at) => {
        await file.write(bytes, at)
        if (!isBroken || bytes.every((byte) => byte === 0)) return
        throw new Error('EIO')
      }
      return { ...file, write }
    })
    let mark: Mark | null = null
    const commit = async () => {
      await pending.prepare()
      const bytes = pending.drain(mark?.applied ?? 0)
      if (bytes) mark = markIn(bytes)
      pending.drained()
    }
    const left = async () =>
      batchesIn(await readFile(join(directory, JOURNAL_FILE)), mark as Mark).flatMap(({ rows }) =>
        rows.map(({ bytes }) => JSON.parse(String(bytes))._id),
      )
    pending.restore(null, [])
    pending.begin()
    expect(pending.stage([row('early')])).toBe(false)
    await commit()
    expect(pending.stage([row('a')])).toBe(true)
    await pending.append()
    isBroken = true
    expect(pending.stage([row('b'), row('c')])).toBe(true)
    await expect(pending.append()).rejects.toThrow('EIO')
    expect(await left()).toEqual(['a'])
    expect(pending.after(0)).toHaveLength(1)
    expect(pending.stage([row('d')])).toBe(false)
    isBroken = false
    await commit()
    expect(await left()).toEqual([])
    expect(pending.stage([row('b')])).toBe(false)
    await commit()
    expect(pending.stage([row('b')])).toBe(true)
    await pending.append()
    expect(await left()).toEqual(['b'])
    expect(await failed(new Pending(directory).read(mark))).toBe(null)
  })
})

describe('M26: a lock that was lost', () => {
  const lost = new LockLost('Taken by another process.')
  test.each([1, 2])('acknowledges nothing that is journalled (check %s)', async (lostAt) => {
    let [checks, appended] = [0, 0]
    const commits = new Commits({
      directory: '/',
      check: () => {
        if (++checks >= lostAt) throw lost
      },
      append: async () => void appended++,
      transact: async (run) => run(),
      undo: () => undefined,
    })
    const insertion = { value: 'inserted', stage: () => true }
    // biome-ignore lint/correctness/useYield: a step of its own
    const run = function* () {
      return 'committed'
    }
    const writes = [commits.write(run, insertion), commits.write(run, insertion), commits.write(run)]
    expect(await Promise.all(writes.map(failed))).toEqual([lost, lost, lost])
    expect(appended).toBe(lostAt - 1)
  })
})

test('S8: an insertion whose lock cannot be looked at is refused, and is in no later batch', async () => {
  let [checks, staged, appended] = [0, 0, 0]
  const commits = new Commits({
    directory: '/',
    check: () => {
      if (++checks <= 2) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    },
    append: async () => void appended++,
    transact: async (run) => run(),
    undo: () => undefined,
  })
  const insertion = { value: 'journalled', stage: () => ++staged > 0 }
  const run = function* () {
    yield
    return 'committed'
  }
  expect(await failed(commits.write(run, insertion))).toMatchObject({ message: 'The write was not stored' })
  expect(staged).toBe(0)
  expect(await commits.write(run, insertion)).toBe('journalled')
  expect([staged, appended]).toEqual([1, 1])
})

test('S8: an insertion of which nothing can be found out is committed, and others go on', async () => {
  const appended: string[] = []
  const commits = new Commits({
    directory: '/',
    check: () => undefined,
    append: async () => void appended.push('batch'),
    transact: async (run) => run(),
    undo: () => undefined,
  })
  const write = (stage: () => boolean) =>
    commits.write(
      function* () {
        yield
        return 'committed'
      },
      { value: 'journalled', stage },
    )
  const spoilt = () => {
    throw new Error('The store is damaged.')
  }
  const written = [write(() => true), write(spoilt), write(() => true), write(() => false)]
  expect(await Promise.all(written)).toEqual(['journalled', 'committed', 'committed', 'committed'])
  expect(await write(() => true)).toBe('journalled')
  expect(appended).toEqual(['batch', 'batch'])
})

describe('M28: a full disk', { skip: !canMount() }, () => {
  test('keeps what was journalled, shows it, and takes more once there is room', async () => {
    const mounted = await freshDirectory()
    mount(mounted, '8m')
    onTestFinished(() => unmount(mounted))
    const directory = join(mounted, 'data')
    const store = await openEmbedded(directory)
    const things = await journalledIn(store)
    await things.insertMany([{ _id: 'gone' }])
    await writeFile(join(mounted, 'rest'), Buffer.alloc(9_000_000)).catch(() => undefined)
    const stored: string[] = []
    let error: unknown = null
    for (let at = 0; error === null && at < 3000; at++) {
      error = await failed(things.insertMany([{ _id: `${at}`, text: 'x'.repeat(3000) }]))
      if (error === null) stored.push(`${at}`)
    }
    expect(error).toMatchObject({ code: 'ENOSPC', message: expect.stringContaining('the disk is full (ENOSPC)') })
    expect(stored).not.toEqual([])
    const wanted = [...stored, 'first', 'gone'].sort()
    expect(await idsIn(store)).toEqual(wanted)
    expect(await things.countDocuments({ text: { $exists: true } })).toBe(stored.length)
    expect(await failed(things.deleteMany({}))).toMatchObject({ code: 'ENOSPC' })
    breakJournal(directory)
    expect(await failed(things.insertMany([{ _id: 'both' }]))).toMatchObject({ code: 'ENOSPC' })
    expect(await idsIn(await opened(await crashed(directory)))).toEqual(wanted)
    await store.close()
    expect(await failed(openEmbedded(directory))).toMatchObject({ code: 'ENOSPC' })
    expect(await readdir(directory)).toContain(JOURNAL_FILE)
    await writeFile(join(mounted, 'rest'), '')
    const again: EmbeddedStore = await openEmbedded(directory)
    expect(await idsIn(again)).toEqual(wanted)
    await again.db().collection('things').deleteOne({ _id: 'gone' })
    await again.close()
    expect(await readdir(directory)).not.toContain(JOURNAL_FILE)
  })
})

/** A disk as small as the test needs it, where this machine lets us have one. */
function mount(directory: string, size: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory]).status === 0
}
/** Also while a store that a failed test left open is still on it. */
function unmount(directory: string): void {
  spawnSync('umount', ['--lazy', directory])
}

function canMount(): boolean {
  return mount('/mnt', '64k') && spawnSync('umount', ['/mnt']).status === 0
}
