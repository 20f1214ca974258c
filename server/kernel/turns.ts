import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { clientOf, type Proxies } from './addresses.ts'
import { whenOver } from './answer-end.ts'
import { budgets, scaled } from './budgets.ts'

/** Requests are begun for so long in one turn of the event loop, and one of each address at most. */
const turnMilliseconds = 4

interface Asked {
  request: IncomingMessage
  response: ServerResponse
  address: string
}
export type Serve = (request: IncomingMessage, response: ServerResponse, address: string) => void

interface Line {
  waiting: Asked[]
  /** One of its requests is being answered, or has its turn. */
  isBusy: boolean
  /** More has come than may wait. */
  isOver: boolean
}

/**
 * Node hands over all requests that a connection has sent at once. Here the next one of a connection begins when the one before it is
 * answered, and those of several connections and addresses take turns, with whatever else the process does in between.
 */
export function inTurns(
  proxies: Proxies,
  scale: number,
  serve: Serve,
  onOverflow: (socket: Socket) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  const mostWaiting = scaled(budgets.waitingRequests, scale)
  const lines = new WeakMap<Socket, Line>()
  /** Lines whose first request may begin, by its address. */
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

  /** What is planned in a turn runs in the one after it. */
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
    // An answer before it may have been the last of its connection.
    if (!request.socket.writable) return
    whenOver(request, response, () => lineUp(line))
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
    line.waiting.push({ request, response, address: clientOf(request, proxies) })
    if (!line.isBusy) lineUp(line)
  }
}
