import { afterEach, expect, test } from 'vitest'
import type { Records } from '#server/log/types'
import { edit, join, moderate, projection, say, slow } from './chat.ts'
import { clockOf, Nodes, pause } from './nodes.ts'

let nodes = new Nodes()
afterEach(async () => {
  await nodes.stop()
  nodes = new Nodes()
})

const room = 'channel:one'
const fast = { clock: clockOf(20), pollMilliseconds: 1_000 }
const deaf = { pollMilliseconds: 60_000 }
const record = (key: string) => nodes.kept.records.get(`${room} ${key}`)

/** Records whose writes can fail or be delayed. */
function recordsThat(save: (keys: readonly string[]) => Promise<void> | void): Records {
  return {
    load: async (key, keys) => nodes.kept.load(key, keys),
    async save(key, changes) {
      await save(changes.map((change) => change.key))
      nodes.kept.save(key, changes)
    },
  }
}

function withHead(changes: { seq: number; materialised: number }): void {
  const epoch = nodes.memory.log(room)[0]?.epoch ?? ''
  nodes.memory.heads.set(room, { room, epoch, total: 0, ...changes, movedAt: Number.MAX_SAFE_INTEGER })
}

test('an act whose records cannot be written is not acknowledged', async () => {
  const records = recordsThat((keys) => {
    if (keys.length > 0) throw new Error('Away.')
  })
  const node = nodes.start('one', { ...fast, records, policy: { deadlineFactor: 5 } })
  await expect(node.act(room, moderate('ban', 'ada'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  expect(nodes.memory.log(room)).toHaveLength(1)
})

test('a repeat is acknowledged only after the records of its first row are written', async () => {
  const node = nodes.alone({ records: recordsThat(() => pause(40)) })
  const banned = () => record('ban:ada')?.seq
  const seqs = await Promise.all([
    node.act(room, moderate('ban', 'ada', 'k')).then(banned),
    pause(10).then(() => node.act(room, moderate('ban', 'ada', 'k')).then(banned)),
  ])
  expect(seqs).toEqual([1, 1])
})

test('a room is opened from records that are at least as new as the mark', async () => {
  nodes.hasHints = false
  const one = nodes.start('one')
  await one.act(room, join('ada'))
  let isFirst = true
  const other = nodes.start('other', {
    ...deaf,
    records: {
      ...recordsThat(() => {}),
      async load(key, keys) {
        const found = nodes.kept.load(key, keys)
        if (key !== room || !isFirst) return found
        isFirst = false
        await one.act(room, slow(1))
        await pause(5)
        for (let turn = 0; turn < 3; turn++) await Promise.all(['a', 'b'].map((text) => one.act(room, join(text))))
        await Promise.all(Array.from({ length: 300 }, (_, index) => one.act(room, moderate('ban', `${index}`))))
        return found
      },
    },
  })
  expect(await other.ask(room, (view) => view.get('slow'))).toBe(1)
})

test('a room is opened with all rows after the mark, however many', async () => {
  const before = nodes.alone()
  await before.act(room, join('ada'))
  await before.act(room, slow(60_000))
  await before.act(room, slow(1))
  await Promise.all(Array.from({ length: 400 }, (_, index) => before.act(room, moderate('ban', `${index}`))))
  await before.close()
  nodes.kept.records.delete(`${room} slow`)
  withHead({ seq: nodes.memory.log(room).length, materialised: 1 })
  expect(await nodes.start('after', deaf).ask(room, (view) => view.get('slow'))).toBe(1)
})

// A copy of a database that was not taken at one moment may hold this state.
test('records are written also when the mark is beyond the end of the log', async () => {
  let isDown = true
  const records = recordsThat(() => {
    if (isDown) throw new Error('Away.')
  })
  withHead({ seq: 0, materialised: 50 })
  const node = nodes.alone({ ...fast, records })
  await expect(node.act(room, moderate('ban', 'ada'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  // The act's own attempts end a little later.
  await pause(400)
  isDown = false
  await expect.poll(() => record('ban:ada')?.value, { timeout: 3_000 }).toBeGreaterThan(0)
})

test('records that another node has written are not written again', async () => {
  let saves = 0
  const one = nodes.start('one', fast)
  const other = nodes.start('other', { ...fast, records: recordsThat(() => void saves++) })
  await other.hold(room)
  await one.act(room, join('ada'))
  await pause(400)
  expect(other.headHere(room)).toMatchObject({ seq: 1 })
  expect(saves).toBe(0)
})

test('facts that are read together are of one moment, while acts go on', async () => {
  nodes.hasHints = false
  const one = nodes.start('one')
  await one.act(room, join('ada'))
  await one.act(room, slow(60_000))
  let isFirst = true
  const other = nodes.start('other', {
    ...deaf,
    records: {
      ...recordsThat(() => {}),
      async load(key, keys) {
        if (keys.includes('ban:bo') && isFirst) {
          isFirst = false
          await one.act(room, slow(0))
          await one.act(room, moderate('ban', 'bo'))
        }
        return nodes.kept.load(key, keys)
      },
    },
  })
  await other.head(room)
  expect(await other.ask(room, (view) => [view.get('slow'), view.get('ban:bo')])).toEqual([0, 4])
})

test('a fact that is read includes the rows after its record', async () => {
  const held = recordsThat((keys) => (keys.some((key) => key.startsWith('text:')) ? new Promise(() => {}) : undefined))
  const one = nodes.start('one', { records: held })
  const other = nodes.start('other', deaf)
  await one.act(room, join('ada'))
  const { row } = await one.act(room, say('ada'))
  await other.hold(room)
  one.act(room, edit('ada', row?._id ?? '', 1, 'e')).catch(() => {})
  await expect.poll(() => other.headHere(room)?.seq).toBe(3)
  expect(await other.ask(room, (view) => view.get(`text:${row?._id}`))).toEqual({ version: 2, text: 'e 2' })
})

test('rows whose records are unwritten stay in memory, however many come after', async () => {
  let isDown = true
  const records = recordsThat((keys) => {
    if (isDown && keys.includes('slow')) throw new Error('Away.')
  })
  const node = nodes.start('one', { ...fast, records })
  await node.act(room, join('ada'))
  await expect(node.act(room, slow(1))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  for (let turn = 0; turn < 6; turn++)
    await Promise.all(Array.from({ length: 100 }, () => node.act(room, join(`${turn}`))))
  await Promise.all(Array.from({ length: 600 }, (_, index) => node.act(room, moderate('ban', `${index}`))))
  await pause(400)
  isDown = false
  await expect.poll(() => record('slow')?.value, { timeout: 3_000 }).toBe(1)
})

test('records that were written out of order are written once, and the mark rises past them', async () => {
  let saves = 0
  let release = () => {}
  const first = new Promise<void>((resolve) => {
    release = resolve
  })
  const records = recordsThat((keys) => {
    saves++
    return keys.includes('member:ada') ? first : undefined
  })
  const node = nodes.start('one', { ...fast, records })
  const slowest = node.act(room, join('ada'))
  await pause(20)
  await Promise.all([node.act(room, join('bo')), pause(20)])
  await node.act(room, join('cy'))
  release()
  await slowest
  await pause(300)
  expect(saves).toBe(3)
  await node.close()
  expect(nodes.memory.heads.get(room)).toMatchObject({ seq: 3, materialised: 3 })
})

test('M51: a fact that was cached as absent is loaded again when its first row arrives', async () => {
  const isRecordOf = (row: { type: string; _id: string }) => (row.type === 'message' ? `text:${row._id}` : null)
  let ids = 0
  const node = nodes.start('one', { projection: { ...projection, isRecordOf }, newId: () => `id-${++ids}` })
  await node.act(room, join('ada'))
  // The replica that a partitioned node reads may not have rows that other nodes know.
  const next = ['id-1', 'id-2', 'id-3', 'id-4', 'id-5', 'id-6'].map((id) => `text:${id}`)
  await node.ask(room, (view) => next.map((key) => view.get(key)))
  const { row } = await node.act(room, say('ada'))
  nodes.kept.records.set(`${room} text:${row?._id}`, { value: 'there', seq: 2 })
  expect(await node.ask(room, (view) => view.get(`text:${row?._id}`))).toBe('there')
})

test('M51: a fact that the store does not find though its row is known is not kept as absent', async () => {
  const isRecordOf = (row: { type: string; _id: string }) => (row.type === 'message' ? `text:${row._id}` : null)
  const node = nodes.start('one', { projection: { ...projection, isRecordOf } })
  await node.act(room, join('ada'))
  const { row } = await node.act(room, say('ada'))
  const text = `text:${row?._id}`
  const ask = () => node.ask(room, (view) => view.get(text))
  await expect(ask()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  nodes.kept.records.set(`${room} ${text}`, { value: 'there', seq: 2 })
  expect(await ask()).toBe('there')
})
