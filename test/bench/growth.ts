import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { blockSize, fileBlock, nextBlock } from '#server/domains/rooms/room-state/search-index'
import { connectEmbedded } from '#server/ports/database/embedded'
import { inbox } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { channelOf, type Person, personAt, personWith } from '#test/support/people'
import { times } from '#test/support/times'
import { growLog, growRooms } from './grown.ts'
import { median } from './load.ts'
import { directoryOfRun, type Measured, startPlaza, stopAll } from './processes.ts'
import type { Report } from './report.ts'

const vocabulary = 20_000
const lengthOfText = 80
const syllables = ['b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'r', 't'].flatMap((sound) =>
  ['a', 'e', 'i', 'o', 'u'].map((tone) => sound + tone),
)
const [absentWord, rareWord] = ['xylophone', 'zeppelin']
const joinedRooms = 100
const [warmCalls, callsAtOnce, batches] = [10, 10, 5]
/** What a start leaves to do in the background is done by then. */
const settleMilliseconds = 4_000
const megabyte = 2 ** 20

/** How the cost of calls and of a start grows with the messages of a room, and with rooms. */
export async function measureGrowth(
  report: Report,
  messages: readonly number[],
  rooms: readonly number[],
): Promise<void> {
  for (const count of messages) await withStore((directory) => measureMessages(report, directory, count))
  for (const count of rooms) await withStore((directory) => measureRooms(report, directory, count))
}

async function withStore(measure: (directory: string) => Promise<void>): Promise<void> {
  const directory = directoryOfRun()
  try {
    await measure(directory)
  } finally {
    await stopAll()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function measureMessages(report: Report, directory: string, count: number): Promise<void> {
  const { owner, member, id } = await prepare(directory)
  const room = { type: 'channel', id } as const
  const before = bytesOf(directory)
  const texts = textsOf()
  await growLog(directory, `channel:${id}`, count, (steps) => texts(steps === 100 ? rareWord : null))
  const grown = bytesOf(directory)
  await fileMessages(directory, `channel:${id}`, count)
  const tell = tellerOf(report, `${count.toLocaleString('en')} messages`)
  tell('disk a message, bytes', (grown - before) / count)
  tell('disk of the search a message, bytes', (bytesOf(directory) - grown) / count)
  const { server, people } = await restart(directory, [owner, member], tell)
  const [asking] = people as [Person]
  const searching = (query: string) => () => asking.does('rest', messages.search, { room, query })
  tell('CPU of a search of an absent word, ms', await cpuOf(server, searching(absentWord)))
  tell('CPU of a search of a rare word, ms', await cpuOf(server, searching(rareWord)))
  tell('CPU of a search of two words, one rare, ms', await cpuOf(server, searching(`${rareWord} ${wordAt(0)}`)))
  tell('CPU of a search of a common word, ms', await cpuOf(server, searching(wordAt(0))))
  tell(
    'CPU of 50 messages of history, ms',
    await cpuOf(server, () => asking.does('rest', messages.history, { room, limit: 50 })),
  )
  tell(
    'CPU of a message over REST, ms',
    await cpuOf(server, () => asking.does('rest', messages.send, { room, text: wordAt(0) })),
  )
}

async function measureRooms(report: Report, directory: string, count: number): Promise<void> {
  const { owner, member, id, joined } = await prepare(directory)
  const names = (from: number, to: number) => times(to - from, (at) => `${wordAt(from + at)} place ${from + at}`)
  await growRooms(directory, joined, names(0, joinedRooms))
  await growRooms(directory, id, names(joinedRooms, count))
  const tell = tellerOf(report, `${count.toLocaleString('en')} rooms`)
  const { server, people } = await restart(directory, [owner, member], tell)
  const [founder, guest] = people as [Person, Person]
  const listing = (search?: string) => () =>
    founder.does('rest', rooms.list, { limit: 50, ...(search ? { search } : {}) })
  tell('CPU of the list of 50, ms', await cpuOf(server, listing()))
  tell('CPU of a search of an absent word, ms', await cpuOf(server, listing(absentWord)))
  tell('CPU of a search of a rare word, ms', await cpuOf(server, listing(wordAt(count - 1))))
  tell('CPU of a search of a word of all, ms', await cpuOf(server, listing('place')))
  tell('CPU of a search of a word of all and a rare one, ms', await cpuOf(server, listing(`place ${count - 1}`)))
  tell(`CPU of one's own ${joinedRooms + 1} rooms, ms`, await cpuOf(server, () => guest.does('rest', inbox.list, {})))
}

/** A channel of the owner alone, and one with a member. */
async function prepare(directory: string) {
  try {
    const { url } = await startPlaza({ directory })
    const [owner, member] = [await personAt(url, 'bench owner'), await personAt(url, 'bench member')]
    const { id } = await channelOf(owner)
    const { id: joined } = await channelOf(owner, member)
    for (const room of [id, joined].map((one) => ({ type: 'channel', id: one }) as const))
      await owner.does('rest', messages.send, { room, text: 'The first one' })
    return { owner, member, id, joined }
  } finally {
    await stopAll()
  }
}

type Teller = (name: string, value: number) => void

const tellerOf =
  (report: Report, among: string): Teller =>
  (name, value) =>
    report.tell({ nodes: 1, store: 'embedded', name: `${among}: ${name}`, value })

/** Starts the server over what was grown, and has the people ask it. */
async function restart(directory: string, people: readonly Person[], tell: Teller) {
  const server = await startPlaza({ directory })
  tell('start, ms', server.startMilliseconds)
  await sleep(settleMilliseconds)
  const { cpuMicroseconds, heapBytes } = await server.probe('memory')
  tell('CPU of a start and four seconds, ms', cpuMicroseconds / 1_000)
  tell('MB of memory of its own', heapBytes / megabyte)
  const moved = people.map(({ account: address, token: sessionToken, refreshToken }) =>
    personWith(server.url, { address, sessionToken, refreshToken }),
  )
  return { server, people: moved }
}

/** Milliseconds of the server's CPU that a call takes once it is warm. */
async function cpuOf(server: Measured, call: () => Promise<unknown>): Promise<number> {
  for (let count = 0; count < warmCalls; count++) await call()
  const costs: number[] = []
  for (let batch = 0; batch < batches; batch++) {
    const before = await server.probe()
    for (let count = 0; count < callsAtOnce; count++) await call()
    const after = await server.probe()
    costs.push((after.cpuMicroseconds - before.cpuMicroseconds) / 1_000 / callsAtOnce)
  }
  return median(costs)
}

/** Files all messages for the search at once, which a server does over time. */
async function fileMessages(directory: string, room: string, count: number): Promise<void> {
  const database = await connectEmbedded(directory)
  try {
    const blocks = Math.floor(count / blockSize)
    for (let block = await nextBlock(room); block < blocks; block++) await fileBlock(room, block)
  } finally {
    await database.close()
  }
}

/** A few words are in every text and most are in few. Each run has the same. */
function textsOf(): (word: string | null) => string {
  let state = 7
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return (word) => {
    let text = word ?? ''
    while (text.length < lengthOfText) text += ` ${wordAt(Math.floor(next() ** 3 * vocabulary))}`
    return text.slice(0, lengthOfText).trim()
  }
}

/** A word of three syllables, another for each number up to 125,000. */
function wordAt(number: number): string {
  const spread = (number * 7_919) % syllables.length ** 3
  const [one, two, three] = [spread, spread / syllables.length, spread / syllables.length ** 2].map(
    (at) => syllables[Math.floor(at) % syllables.length],
  )
  return `${one}${two}${three}`
}

function bytesOf(path: string): number {
  const found = statSync(path)
  if (!found.isDirectory()) return found.blocks * 512
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}
