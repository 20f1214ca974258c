import { z } from 'zod'
import { defineEvent } from '#server/domains/rooms/events/define'

export const sessionsEnded = defineEvent('sessions.ended', {
  body: z.object({ ids: z.union([z.literal('all'), z.array(z.string()).readonly()]) }),
  data: () => ({}),
  isUnsigned: () => true,
  holdsEverywhere: true,
})
