import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openEmbedded } from '#server/ports/database/embedded'
import {
  type Batch,
  batchBytes,
  batchesIn,
  createJournal,
  JOURNAL_BYTES,
  JOURNAL_FILE,
  lengthOf,
  SECTOR,
  sizeOf,
} from '#server/ports/database/embedded/journal'
import { freshDirectory, opened } from './directories.ts'
import { crashed, idsIn, journalledIn } from './journalled.ts'

describe('S7: a journal that is not what was written is damage', () => {
  const damaged = (what: string) => new RegExp(`^The store is damaged: ${what}`)

  async function left(): Promise<string> {
    const directory = await freshDirectory()
    const things = await journalledIn(await opened(directory))
    for (let at = 0; at < 5; at++) await things.insertMany([{ _id: `${at}`, text: 'x'.repeat(at * 300) }])
    return crashed(directory)
  }
  const refused = async (directory: string, what: string) => {
    for (let time = 0; time < 2; time++) await expect(openEmbedded(directory)).rejects.toThrow(damaged(what))
  }

  test('one that is missing', async () => {
    const directory = await left()
    const journal = await readFile(join(directory, JOURNAL_FILE))
    await rm(join(directory, JOURNAL_FILE))
    await refused(directory, 'its journal is missing')
    await writeFile(join(directory, JOURNAL_FILE), journal)
    expect(await idsIn(await opened(directory))).toHaveLength(6)
  })

  test('that of another store, both ways', async () => {
    const [one, other] = [await left(), await left()]
    const journal = await readFile(join(one, JOURNAL_FILE))
    await copyFile(join(other, JOURNAL_FILE), join(one, JOURNAL_FILE))
    await writeFile(join(other, JOURNAL_FILE), journal)
    for (const directory of [one, other]) await refused(directory, 'its journal is another than its own')
  })

  test('one beside a store that does not know it', async () => {
    const directory = await freshDirectory()
    await (await openEmbedded(directory)).close()
    await copyFile(join(await left(), JOURNAL_FILE), join(directory, JOURNAL_FILE))
    await refused(directory, 'there is a journal that it does not know')
  })

  test('one that is no file, or longer than any', async () => {
    const spoils: ((file: string) => unknown)[] = [(file) => mkdir(file), (file) => writeFile(file, '')]
    spoils.push((file) => writeFile(file, '').then(() => truncate(file, 5_000_000_000)))
    if (process.platform !== 'win32') spoils.push((file) => spawnSync('mkfifo', [file]))
    for (const spoil of spoils) {
      const directory = await left()
      await rm(join(directory, JOURNAL_FILE))
      await spoil(join(directory, JOURNAL_FILE))
      await refused(directory, 'its journal is')
    }
  })

  test('but one that the store is done with, and that a crash has left, is removed', async () => {
    const directory = await left()
    const journal = await readFile(join(directory, JOURNAL_FILE))
    await (await openEmbedded(directory)).close()
    await writeFile(join(directory, JOURNAL_FILE), journal)
    expect(await idsIn(await opened(directory))).toHaveLength(6)
    expect(await readdir(directory)).not.toContain(JOURNAL_FILE)
  })

  test('but one that is no more than what is left of a file is removed', async () => {
    const directory = await freshDirectory()
    await (await openEmbedded(directory)).close()
    await writeFile(join(directory, JOURNAL_FILE), Buffer.alloc(SECTOR + 10))
    await opened(directory)
    expect(await readdir(directory)).not.toContain(JOURNAL_FILE)
  })

  test('that of another store, beside a store that is done with as many batches of its own', async () => {
    const directory = await left()
    await (await openEmbedded(directory)).close()
    await copyFile(join(await left(), JOURNAL_FILE), join(directory, JOURNAL_FILE))
    await refused(directory, 'there is a journal that it does not know')
  })

  test('one that was cut, or is nothing but zeros', async () => {
    for (const spoil of [(bytes: Buffer) => bytes.subarray(0, 512 * 4), (bytes: Buffer) => bytes.fill(0)]) {
      const directory = await left()
      await writeFile(join(directory, JOURNAL_FILE), spoil(await readFile(join(directory, JOURNAL_FILE))))
      const ids = await openEmbedded(directory).then(
        async (store) => {
          const found = await idsIn(store)
          await store.close()
          return found
        },
        (error: Error) => error.message,
      )
      expect(ids).toMatch(damaged('its journal'))
    }
  })

  test('a process that lost its directory does not write into the journal of the next one', async () => {
    const directory = await freshDirectory()
    const id = Buffer.alloc(16, 7)
    const first = await createJournal(directory, id)
    const second = await createJournal(directory, id)
    await first.write(Buffer.alloc(512, 1), 512)
    expect((await readFile(join(directory, JOURNAL_FILE))).subarray(512, 1024)).toEqual(Buffer.alloc(512))
    await Promise.all([first.close(), second.close()])
  })

  test('a journal is made though a file is left of one that never was', async () => {
    const directory = await freshDirectory()
    await writeFile(join(directory, `${JOURNAL_FILE}.new`), 'half')
    await (await createJournal(directory, Buffer.alloc(16, 7))).close()
    expect(await readdir(directory)).toEqual([JOURNAL_FILE])
  })
})

describe('S7: the regions of a journal', () => {
  const id = Buffer.alloc(16, 7)
  const batch = (number: number, size = 900): Batch => ({
    number,
    rows: [0, 1].map((at) => ({ namespace: 'plaza.things', bytes: Buffer.alloc(size, number * 2 + at) })),
  })
  const shown = (batches: Batch[]) =>
    JSON.stringify(batches.map(({ number, rows }) => [number, rows.map(({ bytes }) => bytes.toString('hex'))]))
  const mark = (applied: number) => ({ id, applied, isOpen: true })
  const numbersIn = (file: Buffer, applied: number) => batchesIn(file, mark(applied)).map(({ number }) => number)

  /** A journal with rounds of batches, each of which begins behind the head. */
  async function written(...rounds: Batch[][]): Promise<{ file: Buffer; ends: number[] }> {
    const directory = await freshDirectory()
    await (await createJournal(directory, id)).close()
    const file = await readFile(join(directory, JOURNAL_FILE))
    let ends: number[] = []
    for (const round of rounds) {
      ends = [SECTOR]
      for (const each of round) ends.push((ends.at(-1) ?? 0) + batchBytes(id, each).copy(file, ends.at(-1)))
    }
    return { file, ends }
  }

  test('what is in the collections is left out, and what an earlier round left', async () => {
    const { file } = await written(
      [1, 2, 3, 4, 5].map((at) => batch(at)),
      [6, 7].map((at) => batch(at, 100 * at)),
    )
    expect(batchesIn(file, mark(5))).toEqual([batch(6, 600), batch(7, 700)])
    expect(numbersIn(file, 6)).toEqual([7])
    expect(numbersIn(file, 7)).toEqual([])
    expect(() => numbersIn(file, 4)).toThrow('is not what was written')
  })

  test('any bit of any byte that is another is told, or nothing is missing', async () => {
    const round = [6, 7, 8].map((at) => batch(at, at * 40))
    const { file, ends } = await written(
      [1, 2, 3, 4, 5].map((at) => batch(at)),
      round,
    )
    const end = ends.at(-1) ?? 0
    const wanted = shown(round)
    let told = 0
    for (let at = 0; at < end + SECTOR; at++) {
      const flip = () => file.writeUInt8(file.readUInt8(at) ^ (1 << (at % 8)), at)
      flip()
      try {
        expect(shown(batchesIn(file, mark(5))), `byte ${at}`).toBe(wanted)
      } catch (error) {
        expect(String(error), `byte ${at}`).toContain('Damaged')
        told++
      }
      flip()
    }
    expect(told).toBeGreaterThan(round.length * 60)
  })

  test('a last batch of which some sectors were never written is left out, whichever they are', async () => {
    const before = await written(
      [1, 2, 3, 4, 5].map((at) => batch(at)),
      [batch(6)],
    )
    const after = await written(
      [1, 2, 3, 4, 5].map((at) => batch(at)),
      [batch(6), batch(7)],
    )
    const [from = 0, to = 0] = after.ends.slice(-2)
    const sectors = (to - from) / SECTOR
    expect(sectors).toBe(4)
    for (let kept = 0; kept < 2 ** sectors - 1; kept++) {
      const torn = Buffer.from(before.file)
      for (let sector = 0; sector < sectors; sector++)
        if (kept & (1 << sector))
          after.file.copy(torn, from + sector * SECTOR, from + sector * SECTOR, from + (sector + 1) * SECTOR)
      expect(numbersIn(torn, 5), `${kept}`).toEqual([6])
    }
    expect(numbersIn(after.file, 5)).toEqual([6, 7])
  })

  test('so is the first batch of a round, though batches of an earlier round stand behind it', async () => {
    const { file } = await written([1, 2, 3, 4, 5].map((at) => batch(at)))
    batchBytes(id, batch(6)).copy(file, SECTOR, 0, SECTOR)
    expect(numbersIn(file, 5)).toEqual([])
  })

  test('a journal that is full to its end is read', async () => {
    const { file } = await written()
    let size = 1_000_000
    while (SECTOR + lengthOf(size + 1) <= JOURNAL_BYTES) size += 1
    const full = { number: 1, rows: [{ namespace: 'a', bytes: Buffer.alloc(size - 7, 1) }] }
    expect(batchBytes(id, full).copy(file, SECTOR)).toBe(JOURNAL_BYTES - SECTOR)
    expect(numbersIn(file, 0)).toEqual([1])
  })

  test('a batch is never longer than was reckoned', () => {
    for (let count = 1; count < 200; count++) {
      const rows = Array.from({ length: count }, () => ({
        namespace: 'plaza.\u4e16\u754c',
        bytes: Buffer.alloc(count % 7),
      }))
      const reckoned = lengthOf(rows.reduce((sum, row) => sum + sizeOf(row), 0))
      expect(batchBytes(id, { number: 1, rows }).length).toBeLessThanOrEqual(reckoned)
    }
  })

  test('a batch that says to be longer than the journal is no batch', async () => {
    const { file, ends } = await written([1, 2].map((at) => batch(at)))
    const head = (ends[1] ?? 0) + 4
    file.writeUInt32BE(2 ** 32 - 1, head + 10)
    file.writeUInt32BE(crc32(id, crc32(file.subarray(head, head + 18))), head + 18)
    const began = performance.now()
    expect(() => numbersIn(file, 0)).toThrow('is not what was written')
    expect(performance.now() - began).toBeLessThan(5_000)
  })

  test('a batch of another journal is not read', async () => {
    const { file } = await written()
    batchBytes(Buffer.alloc(16, 8), batch(1)).copy(file, SECTOR)
    expect(() => numbersIn(file, 0)).toThrow('is not what was written')
  })

  test('any batch but the last that is not whole, gone or in the place of another is damage', async () => {
    const round = [1, 2, 3, 4].map((at) => batch(at))
    const { file, ends } = await written(round)
    const spoils: ((file: Buffer, at: number, end: number) => void)[] = [
      (copy, at, end) => copy.fill(0, at, end),
      (copy, at) => copy.fill(0, at, at + SECTOR),
      (copy, _, end) => copy.fill(0, end - SECTOR, end),
      (copy, at, end) => file.copy(copy, at, end, end + (end - at)),
      (copy, at, end) => file.copy(copy, end, at, end),
    ]
    for (const [index, spoil] of spoils.entries())
      for (let at = 0; at < (index === 4 ? 2 : 3); at++) {
        const copy = Buffer.from(file)
        spoil(copy, ends[at] ?? 0, ends[at + 1] ?? 0)
        expect(() => numbersIn(copy, 0), `${index} ${at}`).toThrow('The store is damaged: its journal')
      }
    expect(file).toHaveLength(JOURNAL_BYTES)
  })
})
