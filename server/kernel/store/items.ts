import type { Request, Response } from 'express'
import { refusalFrom } from '#server/kernel/http/deadline'
import { errorBody } from '#server/kernel/http/http-errors'
import type { Metrics } from '#server/kernel/operate/metrics'
import type { LiveConnection } from '#server/kernel/sockets/connection'
import { AppError } from '#shared/errors'
import { streamEnd, streamItem } from '#shared/kit/connection'

const heartbeatMilliseconds = 15_000
/** A client that leaves items unread for this long is disconnected. */
const unreadMilliseconds = 10_000
const lookAgainMilliseconds = 25

type Items = AsyncIterable<unknown>

interface Lines {
  gone: AbortController
  isStill: () => Promise<AppError | null>
  metrics: Metrics
  /** The last item states the outcome, so that each line is an item; a broken sequence breaks the answer. */
  itemsOnly: boolean
  form: keyof typeof forms
}

/**
 * Answers with one JSON line or server-sent event for each item. A heartbeat follows every 15 s, and the outcome is the
 * last item.
 */
export async function answerItems(
  items: Items,
  request: Request,
  response: Response,
  { gone, isStill, metrics, itemsOnly, form }: Lines,
): Promise<void> {
  const { mime, stillThere, itemOf, endOf } = forms[form]
  response.status(200).set({
    'Content-Type': `${mime}; charset=utf-8`,
    Connection: 'close',
    'X-Accel-Buffering': 'no',
  })
  response.flushHeaders()
  if (request.method === 'HEAD') return void response.end()
  const beat = setInterval(() => {
    if (!itemsOnly && !response.writableNeedDrain) response.write(stillThere)
    void isStill().then((error) => error && gone.abort(error))
  }, heartbeatMilliseconds)
  const end = await passItems(items, gone.signal, metrics, (item) => written(response, metrics, itemOf(item)))
  clearInterval(beat)
  if (end === 'gone') return
  if (itemsOnly) return void (end === null ? response.end() : response.destroy())
  response.end(endOf(`${JSON.stringify(end === null ? { success: true } : errorBody(end, 'coded'))}\n`))
}

/** Some readers also end lines at these characters, which JSON does not escape. */
const alsoEnding = /[\u0085\u2028\u2029]/g
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
const writtenLine = (item: unknown) => `${JSON.stringify(item).replace(alsoEnding, escaped)}\n`
const lines = new WeakMap<object, string>()

/** An item with many receivers is serialised once. */
function lineOf(item: unknown): string {
  if (typeof item !== 'object' || item === null) return writtenLine(item)
  const line = lines.get(item) ?? writtenLine(item)
  lines.set(item, line)
  return line
}

/** Events of a room log have their seq as id, so that clients resume from it. */
const idOf = (item: unknown) =>
  typeof (item as { seq?: unknown })?.seq === 'number' ? `id: ${(item as { seq: number }).seq}\n` : ''

const forms = {
  lines: { mime: 'application/x-ndjson', stillThere: '\n', itemOf: lineOf, endOf: (line: string) => line },
  events: {
    mime: 'text/event-stream',
    stillThere: ':\n\n',
    itemOf: (item: unknown) => `${idOf(item)}data: ${lineOf(item)}\n`,
    endOf: (line: string) => `event: end\ndata: ${line}\n`,
  },
}

function written(response: Response, metrics: Metrics, line: string): Promise<void> | undefined {
  if (response.write(line)) return undefined
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      response.off('drain', done).off('close', done)
      resolve()
    }
    const timer = setTimeout(() => {
      metrics.slowConsumer()
      response.destroy()
    }, unreadMilliseconds)
    response.on('drain', done).on('close', done)
  })
}

/** Sends one frame for each item, at the pace of the client, and the outcome as the last. */
export async function sendItems(
  items: Items,
  live: LiveConnection,
  id: string,
  signal: AbortSignal,
  metrics: Metrics,
): Promise<void> {
  const end = await passItems(items, signal, metrics, async (item) => {
    const began = performance.now()
    while (!signal.aborted && live.isBusyReading) {
      if (performance.now() - began > unreadMilliseconds) {
        metrics.slowConsumer()
        return live.drop()
      }
      await new Promise((resolve) => setTimeout(resolve, lookAgainMilliseconds))
    }
    if (!signal.aborted) live.emit(streamItem, { stream: id, item })
  })
  live.endStream(id)
  if (end === 'gone') return
  const { code, message, status, details } = end ?? {}
  live.emit(streamEnd, { stream: id, error: end && { code, message, status, ...(details ? { details } : {}) } })
}

/** Passes items on one by one, each after the previous was taken. Returns the outcome: null if complete. */
async function passItems(
  items: Items,
  signal: AbortSignal,
  metrics: Metrics,
  take: (item: unknown) => Promise<void> | undefined,
): Promise<AppError | 'gone' | null> {
  const each = items[Symbol.asyncIterator]()
  const isOver = metrics.streamBegun()
  let stop: (() => void) | undefined
  const stopped = () => stop?.()
  signal.addEventListener('abort', stopped)
  /** One wait at a time, so that completed waits are released. */
  const orStopped = <T>(wait: () => Promise<T> | undefined) =>
    new Promise<T | undefined>((resolve, reject) => {
      stop = () => reject(signal.reason)
      if (signal.aborted) stop()
      else Promise.resolve(wait()).then(resolve, reject)
    })
  try {
    for (;;) {
      const next = await orStopped(() => each.next())
      if (next === undefined || next.done) return null
      await orStopped(() => take(next.value))
    }
  } catch (error) {
    if (signal.aborted) return signal.reason instanceof AppError ? signal.reason : 'gone'
    return refusalFrom(error) ?? new AppError('INTERNAL_ERROR', { cause: error })
  } finally {
    isOver()
    signal.removeEventListener('abort', stopped)
    // The generator has the same signal, so it ends with its own wait.
    void Promise.resolve(each.return?.()).catch(() => undefined)
  }
}
