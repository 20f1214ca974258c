import { z } from 'zod'
import { defineEvent, jsonFields } from '#server/domains/rooms/events/define'

/** A request or friendship began or changed. */
export const friendsChanged = defineEvent('friends.changed', {
  body: z.object({ pair: z.string() }),
  data: () => ({}),
  isUnsigned: () => true,
})

/** A request or friendship ended, and with it the nicknames. */
export const friendsEnded = defineEvent('friends.ended', {
  body: z.object({ pair: jsonFields }),
  data: () => ({}),
  isUnsigned: () => true,
})
