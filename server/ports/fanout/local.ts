import { Adapter } from 'socket.io-adapter'
import type { Fanout } from './port.ts'

/** The sockets of this node. */
export const localFanout: Fanout = Adapter
