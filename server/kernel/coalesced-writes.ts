import type { Socket } from 'node:net'

/** The part of an engine's connection that this rests on; `flush` hands all that waits to the network. */
interface Wire {
  request: { socket: Pick<Socket, 'cork' | 'uncork'> }
  flush(): void
}

/** What one turn of the event loop tells a connection leaves in one piece: a system call costs more than many frames. */
export function coalesceWrites(wire: Wire): void {
  const { socket } = wire.request
  const flush = wire.flush.bind(wire)
  let isDue = false
  const flushNow = () => {
    isDue = false
    socket.cork()
    flush()
    socket.uncork()
  }
  wire.flush = () => {
    if (isDue) return
    isDue = true
    process.nextTick(flushNow)
  }
}
