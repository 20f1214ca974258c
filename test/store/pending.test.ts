import { describe, expect, onTestFinished, test } from 'vitest'
import { createJournal, type JournalFile, type Mark, markIn } from '#server/ports/database/embedded/journal'
import { Pending, type Row } from '#server/ports/database/embedded/pending'
import { freshDirectory } from './directories.ts'

const row = (_id: string, size = 10): Row => ({
  namespace: 'plaza.things',
  bytes: Buffer.alloc(size, 1),
  keys: [_id],
  insert: () => undefined,
})

function closedAfter(file: JournalFile): JournalFile {
  onTestFinished(() => file.close())
  return file
}

/** What is pending of a new store, and how many journals were made for it; the first `failing` of them cannot be. */
async function begun(failing = 0) {
  const journals = { wanted: 0 }
  const pending = new Pending(await freshDirectory(), async (...given) => {
    if (++journals.wanted <= failing) throw new Error('EMFILE')
    return closedAfter(await createJournal(...given))
  })
  const commit = async () => {
    await pending.prepare()
    pending.drain(0)
    pending.drained()
  }
  pending.restore(null, [])
  pending.begin()
  return { pending, journals, commit }
}

describe('S6: rows are journalled', () => {
  test('as many after a commit as before it, of the same keys too', async () => {
    const { pending, commit } = await begun()
    pending.stage([row('early')])
    for (let round = 0; round < 3; round++) {
      await commit()
      for (let at = 0; at < 256; at++) expect(pending.stage([row(`${at}`)])).toBe(true)
      expect(pending.stage([row('one too many')])).toBe(false)
      await pending.append()
    }
  })

  test('until the file is full, and from its beginning after a commit', async () => {
    const { pending, commit } = await begun()
    pending.stage([row('early')])
    for (let round = 0; round < 3; round++) {
      await commit()
      for (let at = 0; at < 4; at++) {
        expect(pending.stage([row(`${at}`, 250_000)])).toBe(true)
        await pending.append()
      }
      expect(pending.stage([row('one too many', 250_000)])).toBe(false)
    }
  })

  test('once a journal can be made; until then everything is committed', async () => {
    const { pending, journals, commit } = await begun(2)
    for (let time = 0; time < 3; time++) {
      expect(pending.stage([row('a')])).toBe(false)
      await commit()
    }
    expect(journals.wanted).toBe(3)
    expect(pending.stage([row('a')])).toBe(true)
  })

  test('and a batch that was not acknowledged does not come back once its rows were committed, though it is on the disk', async () => {
    let isBroken = false
    const directory = await freshDirectory()
    const pending = new Pending(directory, async (...given) => {
      const file = closedAfter(await createJournal(...given))
      const write: typeof file.write = async (bytes, at) => {
        if (isBroken && bytes.every((byte) => byte === 0)) throw new Error('EIO')
        await file.write(bytes, at)
        if (isBroken) throw new Error('EIO')
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
    pending.restore(null, [])
    pending.begin()
    pending.stage([row('early')])
    await commit()
    pending.stage([row('a')])
    await pending.append()
    isBroken = true
    pending.stage([row('b')])
    await expect(pending.append()).rejects.toThrow('EIO')
    await commit()
    expect(await new Pending(directory).read(mark)).toEqual([])
  })

  test('no more from the end on: what is written while the journal is removed makes no other one', async () => {
    const { pending, journals, commit } = await begun()
    pending.stage([row('early')])
    await commit()
    expect(pending.end()).toBe(true)
    await commit()
    const removed = pending.remove()
    for (let time = 0; time < 2; time++) {
      expect(pending.stage([row('late')])).toBe(false)
      await commit()
      await removed
    }
    expect(journals.wanted).toBe(1)
    expect(pending.end()).toBe(false)
  })
})
