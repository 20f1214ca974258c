import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { definePeerTopic } from '#server/kernel/peer-message'
import type { RoomKey } from '#server/log/types'
import { isSameAccount } from '#shared/kit/accounts'

/** Above this, a node sends only the number of its people in a room. */
const markedAtMost = 10_000
const typistsAtMost = 500
const crowdedAbove = 500
const sendEveryMilliseconds = 1_000
const sendCrowdEveryMilliseconds = 5_000
const repeatedEveryMilliseconds = 20_000
const forgottenAfterMilliseconds = 45_000

const Typist = z.object({ id: z.string().max(200), name: z.string().max(200), until: z.number() })
type Typist = z.output<typeof Typist>

/** A short hash of the account id, by which nodes distinguish people; collisions are negligible. */
const markOf = (account: string) => createHash('sha256').update(account).digest('base64url').slice(0, markLength)
const markLength = 8
const Marks = z
  .string()
  .regex(/^([\w-]{8})*$/)
  .max(markedAtMost * markLength)
  .transform((marks) => new Set(marks.match(/.{8}/g)))

/** A node's part of a room: its listeners (only their number in a crowd), and its typists. */
const OccupancyPart = z.object({
  node: z.string(),
  people: z.union([Marks, z.number().int().min(0)]),
  typing: z.array(Typist).max(typistsAtMost),
  /** This node has just started listening, and requests the other parts. */
  isNew: z.boolean(),
})
type OccupancyPart = z.output<typeof OccupancyPart> & { receivedAt: number }

/** The people in a room, by this node's connections and other nodes' parts. */
export interface Occupancy {
  readonly typing: Map<string, Typist>
  readonly parts: Map<string, OccupancyPart>
  sentAt: number
  isDue: boolean
  isNew: boolean
  leave(): void
}

const partsTopic = definePeerTopic('crowd:', OccupancyPart)

/** The people who listen on this node, by mark, with their number of connections. */
type PeopleHere = Map<string, number>
const nobody: ReadonlyMap<string, number> = new Map()
const peopleOn = nodeState(() => new Map<RoomKey, PeopleHere>())
const peopleHere = (node: Node, key: RoomKey): ReadonlyMap<string, number> => peopleOn(node).get(key) ?? nobody

/** Counts one more connection of this account; the returned function uncounts it. */
export function countConnection(node: Node, key: RoomKey, account: string): () => void {
  const rooms = peopleOn(node)
  const people = rooms.get(key) ?? new Map<string, number>()
  const mark = markOf(account)
  rooms.set(key, people.set(mark, (people.get(mark) ?? 0) + 1))
  return () => {
    const left = (people.get(mark) ?? 1) - 1
    if (left > 0) people.set(mark, left)
    else people.delete(mark)
    if (people.size === 0) rooms.delete(key)
  }
}

/** Joins the exchange of parts between nodes. */
export function joinOccupancy(node: Node, key: RoomKey, onChange: () => void): Occupancy {
  const occupancy: Occupancy = {
    typing: new Map(),
    parts: new Map(),
    sentAt: Number.NEGATIVE_INFINITY,
    isDue: false,
    isNew: true,
    leave: partsTopic.listen(node, key, (part) => {
      if (sizeOf(part) === 0 && part.typing.length === 0) occupancy.parts.delete(part.node)
      else occupancy.parts.set(part.node, { ...part, receivedAt: performance.now() })
      if (part.isNew) scheduleOccupancy(node, key, occupancy)
      onChange()
    }),
  }
  return occupancy
}

const sizeOf = ({ people }: z.output<typeof OccupancyPart>): number =>
  typeof people === 'number' ? people : people.size

/** Sends our part to other nodes: at once, then later changes together. */
export function scheduleOccupancy(node: Node, key: RoomKey, occupancy: Occupancy): void {
  if (occupancy.isDue) return
  occupancy.isDue = true
  const isCrowded = peopleHere(node, key).size > crowdedAbove
  const pause = isCrowded ? sendCrowdEveryMilliseconds : sendEveryMilliseconds
  const wait = Math.max(0, occupancy.sentAt + pause - performance.now())
  setTimeout(() => {
    occupancy.isDue = false
    occupancy.sentAt = performance.now()
    const people = peopleHere(node, key)
    sendPart(node, key, people.size > markedAtMost ? people.size : [...people.keys()].join(''), occupancy)
    occupancy.isNew = false
  }, wait).unref()
}

function sendPart(node: Node, key: RoomKey, people: string | number, { typing, isNew }: Occupancy): void {
  partsTopic.tell(node, key, { node: node.id, people, typing: [...typing.values()].slice(0, typistsAtMost), isNew })
}

/** Sends an empty part, so that other nodes need not wait for its expiry. */
export function leaveOccupancy(node: Node, key: RoomKey, occupancy: Occupancy): void {
  occupancy.typing.clear()
  sendPart(node, key, 0, occupancy)
  occupancy.leave()
}

/** Must our part be repeated before it expires on other nodes? */
export const isToRepeat = ({ sentAt }: Occupancy): boolean => performance.now() - sentAt > repeatedEveryMilliseconds

/** The number of distinct people in the room. People whom another node only counts are assumed to be on no other. */
export function countOccupancy(node: Node, key: RoomKey, occupancy: Occupancy | undefined): number {
  const here = peopleHere(node, key)
  const elsewhere = new Set<string>()
  let unmarked = 0
  for (const { people } of validParts(node, occupancy)) {
    if (typeof people === 'number') unmarked += people
    else for (const mark of people) if (!here.has(mark)) elsewhere.add(mark)
  }
  return here.size + elsewhere.size + unmarked
}

/** The people who type, on any node. */
export function typistsIn(node: Node, occupancy: Occupancy, now: number): Typist[] {
  const typing = new Map(
    [...occupancy.typing.values(), ...validParts(node, occupancy).flatMap((part) => part.typing)].map((typist) => [
      typist.id,
      typist,
    ]),
  )
  return [...typing.values()].filter(({ until }) => until > now)
}

export function stopTyping(occupancy: Occupancy, account: string): boolean {
  let isChanged = occupancy.typing.delete(account)
  for (const part of occupancy.parts.values()) {
    const left = part.typing.filter(({ id }) => !isSameAccount(id, account))
    isChanged ||= left.length < part.typing.length
    part.typing = left
  }
  return isChanged
}

/** The unexpired parts of live nodes. */
function validParts(node: Node, occupancy: Occupancy | undefined): OccupancyPart[] {
  const live = node.nodes.live()
  const since = performance.now() - forgottenAfterMilliseconds
  return [...(occupancy?.parts.values() ?? [])].filter((part) => live.has(part.node) && part.receivedAt > since)
}
