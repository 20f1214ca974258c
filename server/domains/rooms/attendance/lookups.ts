import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { type CachedAnswer, createAnswerCache } from '#server/kernel/store/kept-answers'
import type { Attendance, AttendanceCollection, AttendanceEvent, WholeCollection } from '#server/ports/attendance/port'

const cachedAnswers = nodeState(() => ({
  events: createAnswerCache<AttendanceEvent[]>({
    secondsOf: (events) => (events.length > 0 ? 300 : 30),
    weightOf: (events) => events.reduce((sum, event) => sum + 50 + lengthOf(event), 0),
    mostWeight: 20_000_000,
  }),
  held: createAnswerCache<boolean>({ secondsOf: (holds) => (holds ? 60 : 15), weightOf: () => 0, mostWeight: 50_000 }),
  lists: createAnswerCache<AttendanceCollection[]>({
    secondsOf: (list) => (list.length > 0 ? 300 : 30),
    weightOf: (list) => list.reduce((sum, collection) => sum + 200 + (collection.description?.length ?? 0), 0),
    mostWeight: 5_000_000,
  }),
  collections: createAnswerCache<WholeCollection | null>({
    secondsOf: (collection) => (collection ? 300 : 30),
    weightOf: (collection) => 200 + (collection?.dropIds.length ?? 0),
    mostWeight: 5_000_000,
  }),
}))

const lengthOf = ({ name, imageUrl }: AttendanceEvent) => (name?.length ?? 0) + (imageUrl?.length ?? 0)

/** A node's cache of the provider's answers by question; errors are thrown as the port does. */
export function lookupsOf(node: Node, attendance: Attendance) {
  const { events, held, lists, collections } = cachedAnswers(node)
  const { collections: compass } = attendance
  return {
    /** The events whose token an address holds; an answer may be five minutes old, or `atMostSeconds`. */
    eventsOf: (address: string, atMostSeconds?: number): Promise<CachedAnswer<AttendanceEvent[]>> =>
      events.of(lowerCased(address), () => attendance.eventsOf(lowerCased(address)), atMostSeconds),
    /** Does an address hold an event's token? A positive answer may be a minute old, a negative one 15 seconds. */
    holds: (address: string, eventId: number, atMostSeconds?: number): Promise<CachedAnswer<boolean>> =>
      held.of(`${lowerCased(address)} ${eventId}`, () => attendance.holds(lowerCased(address), eventId), atMostSeconds),
    /** Null if the provider has no collections. */
    collections: compass && {
      list: (page: { offset: number; limit: number; search: string | null }) =>
        lists.of(JSON.stringify(page), () => compass.list(page)),
      having: (eventIds: readonly number[]) => lists.of(eventIds.join(' '), () => compass.having(eventIds)),
      get: (id: number) => collections.of(String(id), () => compass.get(id)),
    },
  }
}
export type Lookups = ReturnType<typeof lookupsOf>

/** Case does not matter in addresses, so it makes no second question. */
const lowerCased = (address: string) => address.toLowerCase()
