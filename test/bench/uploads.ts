import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { openS3 } from '#test/support/s3'
import type { Percentiles } from './load.ts'
import { type Ground, type Measured, startDriver, startPlaza, stopAll } from './processes.ts'
import type { Report } from './report.ts'
import { moderatedRoom, people } from './room.ts'

const megabyte = 2 ** 20
export const fileBytes = 10 * megabyte
const members = 20
const perSecond = 50
const lookMilliseconds = 50
const setting = { nodes: 1, store: 'embedded' }
const crowd = 'chat'

/** So many files of 10 MB are uploaded at once, into a folder and to an S3 server. */
export async function measureUploads(report: Report, count: number, seconds: number): Promise<void> {
  await measureOn({}, report, { count, seconds, where: 'a folder' })
  const s3 = await openS3(['chat-images'])
  try {
    await measureOn({ s3 }, report, { count, seconds, where: 'S3' })
  } finally {
    await s3.stop()
  }
}

interface Plan {
  count: number
  seconds: number
  where: string
}

/** Each is by somebody else, beside a room that talks; the same room at rest is measured before. */
async function measureOn(ground: Ground, report: Report, { count, seconds, where }: Plan): Promise<void> {
  try {
    const server = await startPlaza(ground)
    const driver = startDriver()
    const everybody = await people(server.url, count)
    const talkers = everybody.slice(0, members)
    const room = await moderatedRoom(server.url, talkers)
    await driver.tell({ order: 'open', crowd, urls: [server.url], dialect: { side: 'plaza', room, protocol: 2 } })
    await driver.tell({ order: 'grow', crowd, tokens: talkers.map(({ token }) => token) })
    const talk = (milliseconds: number) =>
      driver.pace({ order: 'pace', crowd, perSecond, seconds: milliseconds / 1_000 })
    await talk(seconds * 500)
    const still = peakOf(server)
    const rest = await talk(seconds * 1_000)
    const restBytes = await still()
    const busy = peakOf(server)
    const began = performance.now()
    const uploading = uploadAll(server.url, everybody).then(() => performance.now() - began)
    const beside = await talk(seconds * 1_000)
    const took = await uploading
    const busyBytes = await busy()
    const tell = (name: string, value: number, target: number) =>
      report.tell({ ...setting, name: `${count} uploads of 10 MB at once to ${where}: ${name}`, value, target })
    tell('MB of memory above rest, at most', (busyBytes - restBytes) / megabyte, 300)
    tell('send to ack p99 ms in a room beside it, times that at rest', beside.ack.p99 / rest.ack.p99, 2)
    tell('seconds until the last is stored', took / 1_000, 60)
    console.error(
      `uploads to ${where}: ${shown(restBytes)} MB at rest, ${shown(busyBytes)} beside; ack p50/p99 ms ${shownAll(rest.ack)} at rest, ${shownAll(beside.ack)} beside`,
    )
  } finally {
    await stopAll()
  }
}

/** The most memory that the process has held, until it is asked for. */
function peakOf(server: Measured): () => Promise<number> {
  let most = 0
  let isOver = false
  const watching = (async () => {
    for (; !isOver; await sleep(lookMilliseconds)) most = Math.max(most, (await server.probe()).rssBytes)
  })()
  return async () => {
    isOver = true
    await watching
    return most
  }
}

const shown = (bytes: number) => Math.round(bytes / megabyte)
const shownAll = ({ p50, p99 }: Percentiles) => `${p50.toFixed(1)}/${p99.toFixed(1)}`

const boundary = 'plaza-bench-uploads'
const head = (name: string, more = '') =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`
const before = Buffer.from(`${head('conversationId')}bench\r\n${head('file', '; filename="a"')}`)
const after = Buffer.from(`\r\n--${boundary}--\r\n`)
const vectorBytes = 12
/** What follows the vector is the same in all files. */
const shared = randomBytes(fileBytes - vectorBytes)
const pieceBytes = 2 ** 16

export async function uploadAll(url: string, people: readonly { token: string }[]): Promise<void> {
  const statuses = await Promise.all(people.map(({ token }) => upload(url, token)))
  const refused = statuses.filter((status) => status !== 200)
  if (refused.length > 0) throw new Error(`${refused.length} uploads were answered ${[...new Set(refused)]}`)
}

/** Sends as fast as the server reads. */
function upload(url: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/upload/image`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': before.length + fileBytes + after.length,
      },
    })
    asked.once('response', (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
    })
    asked.once('error', reject)
    Readable.from(piecesOf()).pipe(asked)
  })
}

function* piecesOf(): Generator<Buffer> {
  yield before
  yield randomBytes(vectorBytes)
  for (let at = 0; at < shared.length; at += pieceBytes) yield shared.subarray(at, at + pieceBytes)
  yield after
}
