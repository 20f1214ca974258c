import type { Socket } from 'node:net'

/** The used part of an Engine.IO connection; `flush` writes all buffered packets. */
interface Wire {
  request: { socket: Pick<Socket, 'cork' | 'uncork'> }
  flush(): void
}

/** Writes all frames of one event-loop turn in one system call, which costs more than many frames. */
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
