import { AppError } from '#shared/errors'
import type { Attendance, AttendanceCollections, AttendanceEvent, WholeCollection } from './port.ts'

type ScriptedCollection = Omit<WholeCollection, 'dropsCount'>

interface Script {
  events: readonly AttendanceEvent[]
  collections?: readonly ScriptedCollection[]
  /** Events that every address holds a token of. */
  everybody?: readonly number[]
}

interface ScriptedAttendance extends Attendance {
  collections: AttendanceCollections
  /** An address gets a token of an event. */
  mint(address: string, eventId: number): void
  /** Transfers the token of an event. */
  transfer(from: string, to: string, eventId: number): void
  /** The way in which it fails to answer; null while it answers. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
  /** Everything waits for it before it answers. */
  pause: Promise<void> | null
  /** The requests in order: `events <address>`, `holds <address> <event>`, `collections`. */
  asked: string[]
}

/** A provider in memory, whose tokens are minted and given away by a script. */
export function scriptedAttendance({ events, collections = [], everybody = [] }: Script): ScriptedAttendance {
  const held = new Map<string, Set<number>>()
  const of = (address: string) => {
    const own = held.get(address.toLowerCase()) ?? new Set(everybody)
    held.set(address.toLowerCase(), own)
    return own
  }
  async function answer<T>(question: string, told: () => T): Promise<T> {
    script.asked.push(question)
    await script.pause
    if (script.away) throw new AppError(script.away)
    return told()
  }
  const shown = ({ dropIds, ...collection }: ScriptedCollection) => ({ ...collection, dropsCount: dropIds.length })
  const newest = [...collections].sort((one, other) => other.id - one.id)
  const script: ScriptedAttendance = {
    isScripted: true,
    away: null,
    pause: null,
    asked: [],
    mint: (address, eventId) => void of(address).add(eventId),
    transfer(from, to, eventId) {
      if (of(from).delete(eventId)) of(to).add(eventId)
    },
    eventsOf: (address) => answer(`events ${address}`, () => events.filter(({ id }) => of(address).has(id))),
    holds: (address, eventId) => answer(`holds ${address} ${eventId}`, () => of(address).has(eventId)),
    collections: {
      list: ({ offset, limit, search }) =>
        answer('collections', () => {
          const wanted = search?.toLowerCase() ?? ''
          const found = newest.filter(({ title }) => title.toLowerCase().includes(wanted))
          return found.slice(offset, offset + limit).map(shown)
        }),
      get: (id) =>
        answer(`collection ${id}`, () => {
          const found = newest.find((collection) => collection.id === id)
          return found ? { ...shown(found), dropIds: [...found.dropIds] } : null
        }),
      having: (eventIds) =>
        answer('having', () => newest.filter(({ dropIds }) => dropIds.some((id) => eventIds.includes(id))).map(shown)),
    },
  }
  return script
}

const event = (id: number, name: string) => ({ id, name, imageUrl: null })
const collection = (id: number, title: string, description: string, dropIds: number[]) => ({
  ...{ id, title, description, dropIds, logoImageUrl: null, bannerImageUrl: null, year: 2026 },
})

/** Three invented events; each visitor of the demo holds tokens of two. */
export const demoAttendance = () =>
  scriptedAttendance({
    events: [event(101, 'Lantern Night 2026'), event(102, 'Plaza Meetup 2026'), event(103, 'Founders Dinner 2026')],
    collections: [
      collection(11, 'Evenings at the Plaza', 'Every evening event of the year.', [101, 102]),
      collection(12, 'Founders only', 'For those who were there at the start.', [103]),
    ],
    everybody: [101, 102],
  })
