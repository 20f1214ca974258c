import { updateAgentProfile } from '#server/domains/agents/agent-rooms/memberships'
import { noteGoneAgent } from '#server/domains/agents/agent-state/access'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { Connections } from '#server/domains/meetings/calendar/model'
import { Meetings } from '#server/domains/meetings/meetings/model'
import { Bookings } from '#server/domains/meetings/scheduling/model'
import { accountRoleChanged } from '#server/domains/people/accounts/events'
import { roleIn } from '#server/domains/people/accounts/facts'
import { ofFound } from '#server/domains/people/accounts/found'
import { Accounts } from '#server/domains/people/accounts/model'
import { ServiceTokens } from '#server/domains/people/identity/model'
import { announceSessionEnd, endAllSessions } from '#server/domains/people/identity/sessions'
import { Webhooks } from '#server/domains/platform/webhooks/model'
import { unsignedEntry } from '#server/domains/rooms/events/define'
import { purgeBody, removePurged } from '#server/domains/rooms/messages/removals'
import { messagesPurged } from '#server/domains/rooms/room-state/events/messages'
import { memberLeft } from '#server/domains/rooms/room-state/events/people'
import { roomIn } from '#server/domains/rooms/room-state/facts'
import { giveUpMembership, membershipsOf } from '#server/domains/rooms/room-state/membership'
import { Members, Rooms } from '#server/domains/rooms/room-state/model'
import { ordinalBehindPurge, purgeableFrom, roomsWithPurgedTexts } from '#server/domains/rooms/room-state/redaction'
import { actorOf, archiveRoom, entryOf, plazaActor } from '#server/domains/rooms/room-state/standing'
import { actWithSuccession, hasSuccession, isManaged } from '#server/domains/rooms/room-state/succession'
import { Streams } from '#server/domains/streams/streams/model'
import type { Node } from '#server/kernel/context'
import { GLOBAL, type Judgement, type RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { agents } from '#shared/api/agents/agents'
import { booking } from '#shared/api/meetings/booking'
import { calendar } from '#shared/api/meetings/calendar'
import { meetings } from '#shared/api/meetings/meetings'
import { webhooks } from '#shared/api/platform/webhooks'
import { streams } from '#shared/api/streams/streams'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { deletedName } from '#shared/kit/person-name'
import { type ErasedAccount, isBetween, withAlias } from './alias.ts'
import { exportOf, removeArchive } from './export-jobs.ts'

/** Ends all that an account has under way, as its owner would, before its rows go. It can be ended and begun anew. */
export async function endAll(node: Node, erased: ErasedAccount, signal: AbortSignal): Promise<void> {
  const { account } = erased
  const endings = [endSignIns, endRole, endAgents, endStreams, cancelCalls, endMeetings, endConnections, leaveRooms]
  await handOverAgents(node, erased)
  for (const end of endings) {
    signal.throwIfAborted()
    await end(node, account)
  }
  const made = await exportOf(account)
  if (made) await removeArchive(node, account, made.export_id)
}

/** Others refuse what was ended already, or by somebody else. */
async function passOver(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof AppError && error.status < 500)) throw error
  })
}

async function endSignIns(node: Node, account: string): Promise<void> {
  await endAllSessions(node, account)
  const tokens = await ServiceTokens.find({ created_by: account }).lean()
  for (const { _id, account: bot } of tokens) {
    await ServiceTokens.deleteOne({ _id })
    await announceSessionEnd(node, bot, [_id])
  }
}

/** What every node has in memory of the power of an account ends too. */
async function endRole(node: Node, account: string): Promise<void> {
  await node.log.act(GLOBAL, {
    sender: plazaActor.account,
    makes: accountRoleChanged,
    judge: (view): Judgement<null> =>
      roleIn(view, account) === 'user'
        ? { already: null }
        : { accept: unsignedEntry(accountRoleChanged, { role: 'user' }, { target: account }) },
  })
}

async function endAgents(node: Node, account: string): Promise<void> {
  const shown = { visibility: 1, public_access_enabled: 1 } as const
  const own = { owner_address: account, visibility: { $ne: 'official' as const } }
  for (const agent of await Agents.find(own, shown).lean()) {
    await noteGoneAgent(agent)
    await passOver(node.callAs(account, agents.remove, { id: agent._id }))
  }
}

async function endStreams(node: Node, account: string): Promise<void> {
  for (const { _id: id } of await Streams.find({ user_address: account }, { _id: 1 }).lean()) {
    await passOver(node.callAs(account, streams.end, { id }))
    await passOver(node.callAs(account, streams.remove, { id }))
  }
}

/** The other party of each call gets a letter. */
async function cancelCalls(node: Node, account: string): Promise<void> {
  const upcoming = {
    parties: account,
    scheduled_at: { $gt: new Date(node.now()) },
    status: { $ne: 'cancelled' as const },
  }
  for (const { _id: id } of await Bookings.find(upcoming, { _id: 1 }).lean()) {
    const reason = 'This account was deleted.'
    await passOver(node.callAs(account, booking.cancel, { id, status: 'cancelled', reason }))
  }
}

async function endMeetings(node: Node, account: string): Promise<void> {
  const hosted = await Meetings.find({ host_wallet_address: account, status: 'active' }, { join_code: 1 }).lean()
  for (const { join_code: code } of hosted) await passOver(node.callAs(account, meetings.end, { code }))
}

async function endConnections(node: Node, account: string): Promise<void> {
  for (const { _id: id } of await Webhooks.find({ account }, { _id: 1 }).lean())
    await passOver(node.callAs(account, webhooks.remove, { id }))
  if (await Connections.exists({ wallet_address: account }))
    await passOver(node.callAs(account, calendar.disconnect, {}))
}

/**
 * Rooms that the account runs go to those who follow, and are archived where nobody does. The owner in the record of a group is
 * its maker, and its admins run it without them.
 */
async function leaveRooms(node: Node, account: string): Promise<void> {
  for (const key of await membershipsOf(account)) {
    if (isBetween(key, account)) continue
    const actor = await actorOf(node, account)
    await passOver(
      actWithSuccession(node, key, account, {
        sender: account,
        makes: memberLeft,
        judge: (view) => giveUpMembership(view, actor),
      }),
    )
  }
  const own = await Rooms.find({ owner_address: account, is_active: true }, { _id: 1 }).lean()
  for (const { _id: key } of own) {
    const owner = await node.log.ask(key, (view) => roomIn(view)?.owner_address ?? null)
    if (owner === null || !isSameAccount(owner, account)) continue
    const isRun = hasSuccession(key) && (await isManaged(node, key))
    if (!isRun) await archiveRoom(node, key, plazaActor)
  }
}

/** Hides all messages of an account that wants it, by one event for each current and former room. */
export async function hideMessages(
  node: Node,
  { account, messages }: ErasedAccount,
  signal: AbortSignal,
): Promise<void> {
  if (messages !== 'erase') return
  for (const room of await roomsOf(account)) {
    signal.throwIfAborted()
    await purgeIn(node, account, room)
  }
}

/** So long texts are removed in a run, before what other accounts wrote is hidden too. */
const removingMilliseconds = 2_000

/** Removes the texts of hidden messages, also those of earlier purges. False if texts are left for the next run. */
export async function removeTexts(node: Node, account: string, signal: AbortSignal): Promise<boolean> {
  const until = performance.now() + removingMilliseconds
  for (const room of await roomsWithPurgedTexts(await roomsOf(account), account)) {
    signal.throwIfAborted()
    const milliseconds = until - performance.now()
    if (milliseconds < 0 || !(await removePurged(node, room, account, { signal, milliseconds }))) return false
  }
  return true
}

const roomsOf = async (account: string): Promise<RoomKey[]> =>
  (await Members.find({ user_address: account }, { room: 1 }).lean()).map(({ room }) => room)

/** A purge by Plaza itself leaves nothing before its end, so that later runs look behind it alone. */
async function purgeIn(node: Node, account: string, key: RoomKey): Promise<void> {
  const first = await ordinalBehindPurge(key, account, plazaActor.account)
  const { count, from_seq } = await purgeableFrom(key, account, first)
  if (count === 0) return
  await node.log.act(key, {
    sender: plazaActor.account,
    makes: messagesPurged,
    judge(view, now) {
      const body = purgeBody(view, now, account, { from_seq, count, by: plazaActor.account, reason: null })
      const about = { target: account, targetName: deletedName }
      return { accept: entryOf(view, { ...plazaActor, role: null }, messagesPurged, body, about) }
    },
  })
}

/** Official agents are of the installation: those of the account get another owner, and pictures of its own another address. */
async function handOverAgents(node: Node, erased: ErasedAccount): Promise<void> {
  const isErased = (account: string | null) => account !== null && isSameAccount(account, erased.account)
  for (const agent of await Agents.find({ visibility: 'official' }).lean<StoredAgent[]>()) {
    const isOwn = isErased(agent.owner_address)
    const avatar_url = withAlias(agent.avatar_url, erased)
    if (!isOwn && avatar_url === agent.avatar_url) continue
    const x402_wallet_address = isErased(agent.x402_wallet_address) ? null : agent.x402_wallet_address
    const about = { avatar_url, x402_wallet_address }
    if (isOwn) await giveToHeir(agent._id, erased, about)
    else await Agents.updateOne({ _id: agent._id }, { $set: about })
    await updateAgentProfile(node, { ...agent, avatar_url })
  }
}

/** An owner has each name once, so that an heir with an agent of this name is passed over. */
async function giveToHeir(_id: string, { account, alias }: ErasedAccount, about: Partial<StoredAgent>): Promise<void> {
  const superAdmins = { ...ofFound, role: 'super_admin' as const, _id: { $ne: account } }
  const heirs = await Accounts.find(superAdmins, { _id: 1 }).sort({ created_at: 1, _id: 1 }).lean()
  for (const owner_address of [...heirs.map((heir) => heir._id), alias]) {
    const change = { $set: { ...about, owner_address }, $unset: { place: '' } }
    const isGiven = await Agents.updateOne({ _id }, change).then(
      () => true,
      (error: unknown) => {
        if (isDuplicate(error)) return false
        throw error
      },
    )
    if (isGiven) return
  }
}
