import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { clientAddressOf, type Proxies } from '#server/kernel/addresses'
import { onAnswerEnd } from '#server/kernel/http/deadline'
import { budgets, scaledBudget } from './budgets.ts'

/** Admits slices of long work one by one, with an event-loop turn for other work in between. */
export function createTurnstile(): () => Promise<void> {
  const waiting: (() => void)[] = []
  const next = () => {
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(next)
  }
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(next)
    })
}

/** One event-loop turn starts requests for this time, and at most one of each address. */
const turnMilliseconds = 4

interface WaitingRequest {
  request: IncomingMessage
  response: ServerResponse
  address: string
}
export type RequestServer = (request: IncomingMessage, response: ServerResponse, address: string) => void

interface Line {
  waiting: WaitingRequest[]
  /** One of its requests is being answered or is due. */
  isBusy: boolean
  /** More requests arrived than may wait. */
  isOver: boolean
}

/**
 * Node reports all pipelined requests of a connection at once. Here each starts after the answer to the previous one.
 * Connections and addresses take turns, with other work of the process in between.
 */
export function serveInTurns(
  proxies: Proxies,
  scale: number,
  serve: RequestServer,
  onOverflow: (socket: Socket) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  const mostWaiting = scaledBudget(budgets.waitingRequests, scale)
  const lines = new WeakMap<Socket, Line>()
  /** Lines whose first request may start, by address. */
  const due = new Map<string, Line[]>()
  let planned = 0

  function lineOf(socket: Socket): Line {
    const line = lines.get(socket) ?? { waiting: [], isBusy: false, isOver: false }
    lines.set(socket, line)
    return line
  }

  function lineUp(line: Line): void {
    const [first] = line.waiting
    line.isBusy = first !== undefined
    if (!first) return
    const others = due.get(first.address)
    if (others) others.push(line)
    else due.set(first.address, [line])
    plan()
  }

  /** A request planned in one turn runs in the next. */
  function plan(): void {
    if (planned > 0) return
    planned = due.size
    let until: number | null = null
    const step = () => {
      planned--
      const now = performance.now()
      until ??= now + turnMilliseconds
      if (now < until) serveNext()
      if (planned === 0) plan()
    }
    for (let one = 0; one < planned; one++) setImmediate(step)
  }

  function serveNext(): void {
    const [next] = due
    if (!next) return
    const [address, [line, ...others]] = next
    due.delete(address)
    if (others.length > 0) due.set(address, others)
    const asked = line?.waiting.shift()
    if (!line || !asked) return
    const { request, response } = asked
    // The previous answer may have ended the connection.
    if (!request.socket.writable) return
    onAnswerEnd(request, response, () => lineUp(line))
    if (line.isOver && line.waiting.length === 0) response.setHeader('Connection', 'close')
    serve(request, response, address)
  }

  return (request, response) => {
    const line = lineOf(request.socket)
    if (line.isOver) return
    if (line.waiting.length >= mostWaiting) {
      line.isOver = true
      request.socket.pause()
      return onOverflow(request.socket)
    }
    line.waiting.push({ request, response, address: clientAddressOf(request, proxies) })
    if (!line.isBusy) lineUp(line)
  }
}
