import { readFileSync, rmSync } from 'node:fs'
import { link } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openEmbedded } from '#server/ports/database/embedded'
import { ownData } from '#shared/api/platform/own-data'
import { call } from '#test/support/wallet'
import { growLog } from './grown.ts'
import { directoryOfRun, type Measured, startPlaza, stopAll } from './processes.ts'
import type { Report } from './report.ts'
import { people, smallRooms } from './room.ts'
import { fileBytes, uploadAll } from './uploads.ts'
import { writersIn } from './writers.ts'

const setting = { nodes: 1, store: 'embedded' }
const writers = 12
const lookMilliseconds = 250
const megabyte = 2 ** 20

interface Size {
  messages: number
  megabytes: number
  seconds: number
}
type Prepared = { owner: string; tokens: string[]; room: string }

/** One account with this much takes its archive, with its files, while twelve people write in another room. */
export async function measureExport(report: Report, { messages, megabytes, seconds }: Size): Promise<void> {
  const directory = directoryOfRun()
  try {
    const { owner, tokens, room } = await prepare(directory, messages, megabytes)
    const server = await startPlaza({ directory })
    const written = writersIn(
      server.url,
      tokens.map((token) => ({ token })),
      room,
    )
    const atRest = pssPeakOf(server)
    const rest = await written.until(after(seconds * 1_000))
    const restBytes = await atRest()
    const whileExporting = pssPeakOf(server)
    const began = performance.now()
    const made = archiveOf(server.url, owner)
    let took = 0
    void made.then(() => {
      took = performance.now() - began
    })
    const beside = await written.until(() => took > 0)
    const { bytes } = await made
    const busyBytes = await whileExporting()
    written.close()
    const tell = (name: string, value: number, target: number) =>
      report.tell({
        ...setting,
        name: `an archive of ${messages} messages and ${megabytes} MB: ${name}`,
        value,
        target,
      })
    tell('MB of memory (PSS) above rest, at most', (busyBytes - restBytes) / megabyte, 300)
    tell(`ack of ${writers} who write beside it, p99 ms`, beside.p99, 250)
    tell('seconds until it is ready', took / 1_000, 60 + messages / 1_000 + megabytes / 10)
    console.error(
      `export: ${Math.round(restBytes / megabyte)} MB at rest, ${Math.round(busyBytes / megabyte)} beside; archive ${Math.round((bytes ?? 0) / megabyte)} MB; ack p99 ms ${rest.p99.toFixed(1)} at rest`,
    )
  } finally {
    await stopAll()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** A room of one account alone, which wrote all of it; its files are links to one, so that the disk holds it once. */
async function prepare(directory: string, messages: number, megabytes: number): Promise<Prepared> {
  let prepared: Prepared & { own: string }
  try {
    const { url } = await startPlaza({ directory })
    const [owner, ...others] = await people(url, 1 + writers)
    if (!owner) throw new Error('Nobody signed in')
    const [own = ''] = await smallRooms(url, [owner], 1, 1)
    const [room = ''] = await smallRooms(url, others, 1, writers)
    await call(url, `POST /api/channels/${own}/messages`, { content: 'The first one' }, owner.token)
    await uploadAll(url, [owner])
    prepared = { owner: owner.token, tokens: others.map(({ token }) => token), room, own }
  } finally {
    await stopAll()
  }
  await growLog(directory, `channel:${prepared.own}`, messages)
  await growFiles(directory, Math.ceil((megabytes * megabyte) / fileBytes))
  return prepared
}

async function growFiles(directory: string, count: number): Promise<void> {
  const store = await openEmbedded(directory)
  try {
    const uploads = store.db().collection('uploads')
    const [first] = await uploads.find({ bytes: { $gte: fileBytes } }).toArray()
    if (!first) throw new Error('There is no upload to begin with')
    const keys = Array.from({ length: count - 1 }, (_, at) => `${first._id}.${at}`)
    for (const key of keys) await link(join(directory, 'files', String(first._id)), join(directory, 'files', key))
    const copies = keys.map((_id, at) => ({ ...first, _id, vector: `${first.vector} ${at}` }))
    if (copies.length > 0) await uploads.insertMany(copies)
  } finally {
    await store.close()
  }
}

const after = (milliseconds: number) => {
  const end = performance.now() + milliseconds
  return () => performance.now() >= end
}

async function archiveOf(url: string, token: string) {
  const begun = await call(url, 'POST /api/account/export', { include_media: true }, token)
  if (begun.status !== 200) throw new Error(`The archive was answered ${begun.status}`)
  for (;;) {
    await sleep(lookMilliseconds)
    const { body } = await call(url, 'GET /api/account/export', null, token)
    const { export: made } = ownData.readExport.output.parse(body)
    if (made?.state === 'failed') throw new Error('The archive failed')
    if (made?.state === 'ready') return made
  }
}

/** The most memory that the process has held, by its share of pages (PSS), until it is asked for. */
function pssPeakOf({ pid }: Measured): () => Promise<number> {
  let most = 0
  let isOver = false
  const watching = (async () => {
    for (; !isOver; await sleep(lookMilliseconds)) most = Math.max(most, pssOf(pid))
  })()
  return async () => {
    isOver = true
    await watching
    return most
  }
}

const pssOf = (pid: number): number =>
  Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) * 1_024
