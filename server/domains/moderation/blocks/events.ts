import { z } from 'zod'
import { defineEvent } from '#server/domains/rooms/events/define'

export const blocksChanged = defineEvent('blocks.changed', {
  body: z.object({ other: z.string() }),
  data: () => ({}),
  isUnsigned: () => true,
})
