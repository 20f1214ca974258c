import { windowMilliseconds } from './states.ts'

/** At one address so many guests are told apart at a time, and so many new ones in five minutes are new to the stream. */
const mostApart = 20
/** So many others are known, to find out when the last of them has left. */
const mostOthers = 1_000

/**
 * Who watches a stream from one address and is not signed in, each with the time until which they are counted as they said so over REST; 0 for
 * those whom a connection alone holds.
 */
export interface Guests {
  /** Each is counted as one. */
  apart: Map<string, number>
  /** All of them are one. */
  others: Map<string, number>
  /** Who was new to the stream, for five minutes. */
  lately: Map<string, number>
  /** What is stored of the others. */
  stored: { until: number; isHeld: boolean }
}

export const noGuests = (): Guests => ({
  apart: new Map(),
  others: new Map(),
  lately: new Map(),
  stored: { until: 0, isHeld: false },
})

export const isEmpty = ({ apart, others, lately }: Guests): boolean => apart.size + others.size + lately.size === 0

/**
 * Marks and sockets are free, people are not: whoever comes is told apart where there is a place, and else one of the others. `until` null
 * leaves what they said before.
 */
export function admit({ apart, others }: Guests, guest: string, until: number | null): void {
  const among = apart.has(guest) ? apart : others
  if (among.has(guest) || among.size < mostOthers) among.set(guest, until ?? among.get(guest) ?? 0)
}

/** Forgets who is gone, and gives their places to the first of the others: returns those. */
export function seat(guests: Guests, isHeld: (guest: string) => boolean, now: number): string[] {
  const { apart, others, lately } = guests
  for (const all of [apart, others])
    for (const [guest, until] of all) if (until <= now && !isHeld(guest)) all.delete(guest)
  for (const [guest, until] of lately) if (until <= now) lately.delete(guest)
  const seated = [...others].slice(0, Math.max(0, mostApart - apart.size))
  for (const [guest, until] of seated) {
    others.delete(guest)
    apart.set(guest, until)
    if (lately.size < mostApart) lately.set(guest, now + windowMilliseconds)
  }
  return seated.map(([guest]) => guest)
}
