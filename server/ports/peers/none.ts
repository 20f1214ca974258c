import type { Peers } from './port.ts'

/** Peers of a single node: nothing is sent or received. */
export const noPeers: Peers = {
  isUp: () => false,
  onReturn() {},
  tell: () => true,
  listen: () => () => {},
  ask: async () => [],
  answer: () => () => {},
}
