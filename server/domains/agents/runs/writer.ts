import { setTimeout as sleep } from 'node:timers/promises'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { isNeverSent } from '#server/ports/database/port'
import type { FrameBody } from '#shared/api/run-frames'
import type { FrameLog } from './frame-log.ts'
import { storedFrames, storeFrames } from './frame-store.ts'
import type { StoredFrames } from './model.ts'
import { tellOthers } from './relay.ts'

/** Between two writes of one run, so that a reader gets at most twenty frames a second. */
const spacingMilliseconds = 50
const retryMilliseconds = 200
const atOnce = 500

/** The frames of a run that this node works on: those that are stored, and those that wait to be. */
export interface RunWriter {
  log: FrameLog
  pending: FrameBody[]
  /** The idx that the first frame of `pending` gets. */
  next: number
  /** All text so far, also what waits to be stored. */
  text: string
  storedAt: number
  timer: NodeJS.Timeout | null
  isQueued: boolean
  /** Another node has ended the run. */
  lost: AbortController
}

const queueOf = nodeState(() => ({ waiting: [] as RunWriter[], isStoring: false }))

export const newWriter = (log: FrameLog): RunWriter => ({
  log,
  pending: [],
  next: 0,
  text: '',
  storedAt: 0,
  timer: null,
  isQueued: false,
  lost: new AbortController(),
})

/** Adds a frame to a run. It is stored at once where the last write is long enough ago, and told once it is stored. */
export function write(node: Node, writer: RunWriter, body: FrameBody): void {
  const last = writer.pending.at(-1)
  if (body.t === 'chunk') writer.text += body.text
  if (body.t === 'chunk' && last?.t === 'chunk') last.text += body.text
  else writer.pending.push(body)
  if (writer.isQueued || writer.timer) return
  const wait = body.t === 'chunk' ? writer.storedAt + spacingMilliseconds - performance.now() : 0
  if (wait <= 0) queue(node, writer)
  else
    writer.timer = setTimeout(() => {
      writer.timer = null
      queue(node, writer)
    }, wait)
}

/** Stores what waits without waiting for the spacing. */
function storeSoon(node: Node, writer: RunWriter): void {
  if (writer.timer) clearTimeout(writer.timer)
  writer.timer = null
  if (!writer.isQueued && writer.pending.length > 0) queue(node, writer)
}

function queue(node: Node, writer: RunWriter): void {
  const all = queueOf(node)
  writer.isQueued = true
  all.waiting.push(writer)
  if (!all.isStoring) void storeAll(node, all)
}

/** Makes one write at a time, of the frames of all runs that wait. */
async function storeAll(node: Node, all: ReturnType<typeof queueOf>): Promise<void> {
  all.isStoring = true
  await Promise.resolve()
  while (all.waiting.length > 0) await store(node, all.waiting.splice(0, atOnce))
  all.isStoring = false
}

async function store(node: Node, turn: readonly RunWriter[]): Promise<void> {
  const pieces = turn
    // Another node has ended these runs: what is added would stand behind their end.
    .filter(({ lost }) => !lost.signal.aborted)
    .map((writer) => {
      const frames = writer.pending
      writer.pending = []
      writer.isQueued = false
      writer.storedAt = performance.now()
      const stored = storedFrames(writer.log.id, writer.next, frames, node.id, node.now())
      writer.next += frames.length
      return { writer, stored }
    })
  const lost = await untilStored(
    node,
    pieces.map(({ stored }) => stored),
  )
  for (const { writer, stored } of pieces) {
    if (lost.has(stored.run_id)) {
      writer.pending = []
      writer.lost.abort()
    } else {
      writer.log.take(stored.from_idx, stored.frames)
      tellOthers(node, stored)
    }
  }
}

/** Tries until the store answers, so that no frame is lost while it is away. Returns the runs that another node has ended. */
async function untilStored(node: Node, pieces: readonly StoredFrames[]): Promise<Set<string>> {
  for (;;) {
    try {
      return await storeFrames(pieces)
    } catch (error) {
      // The store will never take these frames.
      if (isNeverSent(error)) return new Set(pieces.map(({ run_id }) => run_id))
      node.logger.warn({ error }, 'frames of answers were not stored; they are tried again')
      await sleep(retryMilliseconds)
    }
  }
}

/** Resolves when all that was written of a run is stored, or when the run is lost. */
export async function allStored(node: Node, writer: RunWriter): Promise<void> {
  storeSoon(node, writer)
  const { log, lost } = writer
  while (!lost.signal.aborted && (log.frames.length < writer.next || writer.pending.length > 0))
    await log.reached(log.frames.length, lost.signal, 1_000)
}
