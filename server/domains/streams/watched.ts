import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { Guests } from './guests.ts'
import type { StoredStream } from './model.ts'

export const countMilliseconds = 1_000

interface Held {
  /** Where a guest came from first. */
  address: string | null
  connections: Set<string>
}

/** What is to be stored of somebody: whether this node holds them, and whether they are nobody new to the stream. */
export interface Holding {
  isHeld: boolean
  isBeyond: boolean
}

export interface Watched {
  /** By their address. */
  guests: Map<string, Guests>
  /** Who has connections to this node. */
  held: Map<string, Held>
  /** Written soon. */
  dirty: Map<string, Holding>
  writing: Promise<void> | null
  counting: NodeJS.Timeout | null
  running: Promise<StoredStream | null> | null
  /** For those who ask while it is being counted, which may have missed what they did. */
  next: Promise<StoredStream | null> | null
  rows: number
  /** It was counted, and was not told yet. */
  isUntold: boolean
  /** Somebody came or went while it was counted. */
  isDue: boolean
  countedAt: number
  pause: number
  usedAt: number
}
export const watchedOn = nodeState(() => new Map<string, Watched>())

export function watchedOf(node: Node, stream: string): Watched {
  const all = watchedOn(node)
  const known = all.get(stream)
  if (known) {
    known.usedAt = performance.now()
    return known
  }
  const made: Watched = {
    guests: new Map(),
    held: new Map(),
    dirty: new Map(),
    writing: null,
    counting: null,
    running: null,
    next: null,
    rows: 0,
    isUntold: false,
    isDue: false,
    countedAt: Number.NEGATIVE_INFINITY,
    pause: countMilliseconds,
    usedAt: performance.now(),
  }
  all.set(stream, made)
  return made
}
