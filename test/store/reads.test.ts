import { expect, test } from 'vitest'
import { freshDirectory, opened } from './directories.ts'

const journalled = { writeConcern: { j: true } }

/** A collection of so many documents, of which a page of 100 is read by an index. */
async function pages() {
  const things = (await opened(await freshDirectory())).db().collection('things')
  await things.createIndex({ n: 1 })
  await things.insertMany(Array.from({ length: 200 }, (_, n) => ({ _id: `${n}`, n, text: 'some words '.repeat(20) })))
  const page = () =>
    things
      .find({ n: { $gte: 50 } })
      .sort({ n: 1 })
      .limit(100)
      .toArray()
  return { things, page }
}

/** Keeps so many readers reading, each one page after the other, until all together have read this many. */
async function readOn(page: () => Promise<unknown>, readers: number, most: number): Promise<number> {
  let read = 0
  const one = async () => {
    while (read < most) {
      await page()
      read++
    }
  }
  await Promise.all(Array.from({ length: readers }, one))
  return read
}

test('O07: reads that never end do not hold an append', async () => {
  const { things, page } = await pages()
  let isStored = false
  let readBefore = 0
  const reading = readOn(
    async () => {
      await page()
      if (!isStored) readBefore++
    },
    50,
    3_000,
  )
  const appended = things.insertMany([{ _id: 'new', n: 1_000 }], journalled).then(() => {
    isStored = true
  })
  await Promise.all([reading, appended])
  expect(readBefore).toBeLessThan(3_000)
})

test('O07: single documents, and those that are named, are read before pages that wait', async () => {
  const { things, page } = await pages()
  const order: string[] = []
  const noted = (name: string, work: Promise<unknown>) => work.then(() => void order.push(name))
  const waiting = Array.from({ length: 200 }, () => noted('page', page()))
  await Promise.all([
    ...waiting,
    noted('named', things.find({ _id: { $in: ['1', '2', '3'] } }).toArray()),
    noted('one', things.findOne({ n: 7 })),
    noted('count', things.countDocuments({ _id: { $in: ['1', '2'] } })),
  ])
  const last = Math.max(...['named', 'one', 'count'].map((name) => order.indexOf(name)))
  expect(order.filter((name) => name === 'page')).toHaveLength(200)
  expect(order.slice(last).filter((name) => name === 'page').length).toBeGreaterThan(100)
})

test('O07: pages that wait for each other are read whole, each in the state of one moment', async () => {
  const { things } = await pages()
  const asked = Array.from({ length: 100 }, async (_, at) => {
    const found = await things
      .find({ n: { $gte: at } })
      .sort({ n: 1 })
      .limit(100)
      .toArray()
    return found.map(({ n }) => n)
  })
  const found = await Promise.all(asked)
  expect(found.map(([first]) => first)).toEqual(found.map((_, at) => at))
  expect(found.every(({ length }) => length === 100)).toBe(true)
})
