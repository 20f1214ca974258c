import type { Adapter } from 'socket.io-adapter'

/** Creates the adapter that delivers events of a namespace to sockets on all nodes. */
export type Fanout = typeof Adapter | ((namespace: ConstructorParameters<typeof Adapter>[0]) => Adapter)
