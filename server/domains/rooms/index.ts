import type { Actions } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { rooms as contract } from '#shared/api/rooms'
import { ensureAlpha } from './alpha.ts'
import { addMembers, join, kick, leave, members, setRole } from './members.ts'
import { answerOnline } from './online.ts'
import { archive, createChannel, createGroup, fileRooms, finishRooms, get, list, openDm, update } from './rooms.ts'
import { setTopic } from './topic.ts'

const actions: Actions<typeof contract> = {
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
}

const finishMilliseconds = 30_000

export const rooms = defineDomain(contract, actions, {
  async start(node) {
    const stopAnswering = answerOnline(node)
    await ensureAlpha(node)
    await finishRooms(node)
    const finishing = setInterval(() => void finishRooms(node).catch(() => undefined), finishMilliseconds).unref()
    void fileRooms().catch((error: unknown) => node.logger.warn({ error }, 'older rooms were not filed for the search'))
    return [stopAnswering, () => clearInterval(finishing)]
  },
})
