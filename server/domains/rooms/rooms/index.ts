import { Rooms } from '#server/domains/rooms/room-state/model'
import { answerOnline } from '#server/domains/rooms/room-state/online'
import { updateAllStaffMemberships } from '#server/domains/rooms/room-state/staff-rooms'
import { appointMissingManagers, followSuspensions } from '#server/domains/rooms/room-state/succession'
import type { Actions } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { retryOnStart } from '#server/kernel/retry-on-start'
import { every, startInBackground } from '#server/kernel/work/every'
import { rooms as contract } from '#shared/api/rooms/rooms'
import { ensureAlpha } from './alpha.ts'
import { finishRooms } from './founding.ts'
import { gate, recheckGate } from './gate-answers.ts'
import { createLocationRoom, listLocationRooms, locationRoom, storePlaceCells } from './location-rooms.ts'
import { addMembers, handOver, join, kick, leave, members, setRole } from './members.ts'
import { ensureOfficialChannels, ensureStaffChannel } from './official-channels.ts'
import { publicChannel, publicTokenRoom } from './public-rooms.ts'
import { startRechecks } from './rechecks.ts'
import { archive, createChannel, createGroup, get, groups, list, openDm, update, updateSearchTerms } from './rooms.ts'
import { roomSettings } from './settings.ts'
import { sharedKey } from './shared-key.ts'
import { staff } from './staff.ts'
import { followStaff } from './staff-channels.ts'
import { createTokenRoom, listTokenRooms } from './token-rooms.ts'
import { setTopic } from './topic.ts'

const actions: Actions<typeof contract> = {
  list,
  get,
  createChannel,
  createGroup,
  groups,
  createTokenRoom,
  listTokenRooms,
  publicChannel,
  publicTokenRoom,
  createLocationRoom,
  listLocationRooms,
  locationRoom,
  openDm,
  update,
  setTopic,
  archive,
  join,
  sharedKey,
  gate,
  recheckGate,
  leave,
  members,
  addMembers,
  setRole,
  handOver,
  kick,
  staff,
}

const finishMilliseconds = 30_000
const settleMilliseconds = 30_000

export const rooms = defineDomain(contract, actions, {
  settings: roomSettings,
  async shows(urls) {
    const found = await Rooms.find({ icon_url: { $in: [...urls] } }, { icon_url: 1 }).lean()
    return found.map(({ icon_url }) => icon_url)
  },
  async start(node) {
    const stopAnswering = answerOnline(node)
    followStaff(node)
    followSuspensions(node)
    await retryOnStart(() => ensureAlpha(node))
    // The demo has its own channels.
    if (roomSettings.of(node).beginsWithChannels && !node.settings.demo) {
      await retryOnStart(() => ensureOfficialChannels(node))
      await retryOnStart(() => ensureStaffChannel(node))
    }
    await retryOnStart(() => finishRooms(node))
    const stopFinishing = every(node, finishMilliseconds, () => finishRooms(node), 'rooms were not finished')
    const stopSettling = every(
      node,
      settleMilliseconds,
      () => updateAllStaffMemberships(node),
      'the staff was not settled',
    )
    const stopFiling = startInBackground(node, updateSearchTerms, 'older rooms were not filed for the search')
    const stopPlacing = startInBackground(node, storePlaceCells, 'older rooms of places were not filed by cell')
    const stopHealing = startInBackground(
      node,
      () => appointMissingManagers(node),
      'rooms that nobody runs were not looked for',
    )
    return [stopAnswering, stopFinishing, stopSettling, stopFiling, stopPlacing, stopHealing, startRechecks(node)]
  },
})
