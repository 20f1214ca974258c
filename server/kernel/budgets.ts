/** A bound of what one client may cost, and the words of its row in the table of `docs/security.md`. */
export interface Budget {
  what: string
  countedBy: string
  /** Before the node's scale (`limits.scale`). */
  most: number
  afterwards: string
}

const budget = (most: number, what: string, countedBy: string, afterwards: string): Budget => {
  return { what, countedBy, most, afterwards }
}

/** What one client may cost this node. */
export const budgets = {
  handshakesOfAddress: budget(
    60,
    'Handshakes of Socket.IO',
    'address and minute; who shows a session, by account and minute',
    '429 with `Retry-After`',
  ),
  handshakes: budget(200, 'Handshakes of Socket.IO', 'node and second', '429 with `Retry-After`'),
  packets: budget(
    300,
    'Packets of every kind, in all namespaces together',
    'connection and second',
    'the connection is closed',
  ),
  bytes: budget(4_194_304, 'Bytes of these packets', 'connection and second', 'the connection is closed'),
  events: budget(30, 'Events, in all namespaces together', 'connection and second', '`RATE_LIMIT_EXCEEDED`'),
  connects: budget(
    30,
    'CONNECTs to a namespace, whatever becomes of them',
    'connection and minute',
    'the connection is closed',
  ),
  refusals: budget(10, 'CONNECTs that are refused', 'connection', 'the connection is closed'),
  connectsOfAddress: budget(
    600,
    'CONNECTs whose token is looked at',
    'address and minute',
    'one token of each connection is looked at, and who has a session has as many of their own; else `RATE_LIMIT_EXCEEDED`',
  ),
  groupInvitations: budget(100, 'People asked into groups', 'account and hour', '`RATE_LIMIT_EXCEEDED`'),
  sockets: budget(10, 'Sockets in a namespace', 'account', 'the oldest is closed'),
} as const satisfies Record<string, Budget>

/** How much of a budget there is at the scale of a node: one at least. */
export const scaled = ({ most }: Budget, scale: number): number => Math.max(1, Math.ceil(most * scale))
