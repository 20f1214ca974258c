import type { Actions } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { messages as contract } from '#shared/api/rooms/messages'
import { follow, sync } from './catch-up.ts'
import { directEdit, directHistory, directReact, directRead, directSend, directTyping } from './direct.ts'
import { edit } from './edits.ts'
import { startHeads } from './heads.ts'
import { history, pins, reactions } from './history.ts'
import { followSearch } from './indexing.ts'
import { join, leave } from './listen.ts'
import { followRooms, greetConnection } from './live.ts'
import { pin } from './pins.ts'
import { followPresence, presence, presenceOf, typing } from './presence.ts'
import { react } from './reactions.ts'
import { read, readMessage, receipts } from './reads.ts'
import { remove, removeById } from './removals.ts'
import { expireMessages } from './retention.ts'
import { search } from './search.ts'
import { check, send } from './send.ts'
import { sharedKeyHistory } from './shared-key.ts'

const actions: Actions<typeof contract> = {
  join,
  leave,
  sync,
  follow,
  history,
  search,
  send,
  check,
  edit,
  remove,
  removeById,
  react,
  reactions,
  directHistory,
  directSend,
  directEdit,
  directReact,
  directRead,
  directTyping,
  pin,
  pins,
  sharedKeyHistory,
  read,
  typing,
  presence,
  presenceOf,
  receipts,
  readMessage,
}

export const messages = defineDomain(contract, actions, {
  jobs: [expireMessages],
  connected: { '/rooms': greetConnection },
  start(node) {
    followRooms(node)
    return [startHeads(node), followPresence(node), followSearch(node)]
  },
})
