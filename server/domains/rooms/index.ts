import { implement } from '#server/kernel/context'
import { rooms as contract } from '#shared/api/rooms'
import { addMembers, join, kick, leave, members, setRole } from './members.ts'
import { archive, createChannel, createGroup, get, list, openDm, update } from './rooms.ts'
import { setTopic } from './topic.ts'

export const rooms = implement('rooms', contract, {
  list,
  get,
  createChannel,
  createGroup,
  openDm,
  update,
  setTopic,
  archive,
  join,
  leave,
  members,
  addMembers,
  setRole,
  kick,
})
