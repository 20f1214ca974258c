import { AppError } from '#shared/errors'
import type { Meetings, Pass } from './port.ts'

interface FakeMeetings extends Meetings {
  /** Whom its tokens let in, in the order in which they were given. */
  admitted: (Pass & { most: number })[]
  /** How many are in each room. */
  people: Map<string, number>
  closed: string[]
  /** The way in which it fails to answer; null while it answers. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
}

/** A provider in memory, at an address of its own. */
export function fakeMeetings(): FakeMeetings {
  const answers = () => {
    if (meetings.away) throw new AppError(meetings.away)
  }
  const meetings: FakeMeetings = {
    url: 'wss://meetings.test',
    admitted: [],
    people: new Map(),
    closed: [],
    away: null,
    async admit(pass, most) {
      answers()
      meetings.admitted.push({ ...pass, most })
      return `pass ${meetings.admitted.length}`
    },
    read: async () => null,
    async present(rooms) {
      answers()
      return new Map(
        rooms.flatMap((room) => (meetings.people.has(room) ? [[room, meetings.people.get(room) ?? 0]] : [])),
      )
    },
    async close(room) {
      answers()
      meetings.closed.push(room)
      meetings.people.delete(room)
    },
  }
  return meetings
}
