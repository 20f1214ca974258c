import { z } from 'zod'
import { defineEvent } from '#server/domains/rooms/events/define'

export const queueChanged = defineEvent('queue.changed', {
  body: z.object({ item: z.string() }),
  data: () => ({}),
  isUnsigned: () => true,
})
