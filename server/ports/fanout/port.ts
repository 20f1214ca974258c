import type { Adapter } from 'socket.io-adapter'

/** Makes the part of a namespace that takes what is emitted to an audience to its sockets, wherever they are connected. */
export type Fanout = typeof Adapter | ((namespace: ConstructorParameters<typeof Adapter>[0]) => Adapter)
