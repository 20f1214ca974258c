import { connect, type Socket } from 'node:net'

export function dial(url: string, localAddress?: string): Socket {
  const { hostname, port } = new URL(url)
  return connect({ host: hostname, port: Number(port), ...(localAddress && { localAddress }) })
}

/** A connection that has sent these bytes, with what it was answered so far. */
export function sent(url: string, bytes: string, from?: string) {
  const socket = dial(url, from)
  let heard = ''
  socket
    .on('error', () => undefined)
    .on('data', (part) => {
      heard += part
    })
  socket.write(bytes)
  return {
    socket,
    heard: () => heard,
    statuses: () => [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status)),
  }
}
