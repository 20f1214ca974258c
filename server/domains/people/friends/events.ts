import { z } from 'zod'
import { fields } from '#server/domains/rooms/events/changes'
import { defineEvent } from '#server/domains/rooms/events/define'

/** Something began or changed between two people. */
export const friendsChanged = defineEvent('friends.changed', {
  body: z.object({ pair: z.string() }),
  data: () => ({}),
  isUnsigned: () => true,
})

/** What was between two people ended; what they called each other is gone with it. */
export const friendsEnded = defineEvent('friends.ended', {
  body: z.object({ pair: fields }),
  data: () => ({}),
  isUnsigned: () => true,
})
