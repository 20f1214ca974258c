import { profilesOf } from '#server/domains/accounts/profiles'
import { isBlockedDm, keyOf, readBy } from '#server/domains/rooms/access'
import { muteIn } from '#server/domains/rooms/facts'
import { type Action, audiences, type Node, signedIn } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import type { messages as contract } from '#shared/api/messages'
import { ephemeral } from '#shared/api/rooms'
import { AppError } from '#shared/errors'
import { roomOfKey } from '#shared/kit/primitives'

const typingMilliseconds = 6_000
const toldEveryMilliseconds = 1_000
const quietAbove = 500

interface Passing {
  typing: Map<string, { name: string; until: number }>
  isDue: boolean
  version: number
}

const rooms = new WeakMap<Node, Map<RoomKey, Passing>>()

function passingIn(node: Node, key: RoomKey): Passing {
  const known = rooms.get(node) ?? new Map<RoomKey, Passing>()
  rooms.set(node, known)
  const passing = known.get(key) ?? { typing: new Map(), isDue: false, version: 0 }
  known.set(key, passing)
  return passing
}

/** People who listen to a room on this node. */
export const onlineIn = (node: Node, key: RoomKey): number =>
  new Set(node.live.connectionsOf('/rooms', audiences.room(key)).map(({ account }) => account)).size

/** Tells the room soon; what changes within a second is told once. */
export function presenceChanged(node: Node, key: RoomKey): void {
  const passing = passingIn(node, key)
  if (passing.isDue) return
  passing.isDue = true
  setTimeout(() => {
    passing.isDue = false
    tell(node, key, passing)
  }, toldEveryMilliseconds).unref()
}

function tell(node: Node, key: RoomKey, passing: Passing): void {
  const online = onlineIn(node, key)
  if (online === 0) return void rooms.get(node)?.delete(key)
  const now = node.now()
  for (const [account, { until }] of passing.typing) if (until <= now) passing.typing.delete(account)
  const typing =
    online > quietAbove
      ? []
      : [...passing.typing].map(([id, { name, until }]) => ({ id, name, until: new Date(until).toISOString() }))
  passing.version++
  node.live.sendVolatile('/rooms', audiences.room(key), ephemeral.name, {
    room: roomOfKey(key),
    typing,
    online,
    v: passing.version,
  })
  if (typing.length > 0) presenceChanged(node, key)
}

export const typing: Action<typeof contract.typing> = async ({ room, on }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  await context.node.log.ask(key, (view, now) => {
    const { standing } = readBy(view, account, now)
    if (isBlockedDm(view)) throw new AppError('BLOCKED')
    if (!standing?.isMember) throw new AppError('NOT_A_MEMBER')
    if (muteIn(view, account, now)) throw new AppError('MUTED')
  })
  const name = (await profilesOf([account])).get(account)?.name ?? account
  const { typing: people } = passingIn(context.node, key)
  if (on) people.set(account, { name, until: context.node.now() + typingMilliseconds })
  else people.delete(account)
  presenceChanged(context.node, key)
  return {}
}

/** Whoever has sent something has stopped typing it. */
export const stoppedTyping = (node: Node, key: RoomKey, account: string): void => {
  if (rooms.get(node)?.get(key)?.typing.delete(account)) presenceChanged(node, key)
}

const state = 'presence'

export const presence: Action<typeof contract.presence> = async (input, { connection }) => {
  connection?.memory.set(state, input.state)
  return {}
}

export const presenceOf: Action<typeof contract.presenceOf> = async ({ addresses }, { node }) =>
  Object.fromEntries(
    addresses.map((address) => {
      const connections = node.live.connectionsOf('/rooms', audiences.account(address))
      return [address, connections.some(({ memory }) => memory.get(state) !== 'idle')]
    }),
  )
