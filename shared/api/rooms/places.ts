import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Time } from '#shared/kit/primitives'

export const Latitude = z.number('a latitude is required').min(-90).max(90)
export const Longitude = z.number('a longitude is required').min(-180).max(180)
/** Where somebody says they are. */
export const Position = z.strictObject({ latitude: Latitude, longitude: Longitude })
export type Position = z.infer<typeof Position>

/** What an operation that takes a position may be refused with beside the rate. */
export const claimed = ['POSITION_NOT_PLAUSIBLE'] as const

/** The claimed locations of people. Browsers can be set to any location, so the server does not know the real one. */
export const places = {
  claim: operation({
    summary:
      'Say where you are, for rooms of places. It is taken as said, not as proved: refused is only what is said too often, or what nobody travels. Nobody else is told.',
    http: 'POST /api/location-chats/position',
    socket: '/rooms position:claim',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    input: Position,
    output: z.object({
      success: z.literal(true),
      /** Until when it counts at gates. */
      counts_until: Time,
      /** When it is deleted, unless something else is said. */
      kept_until: Time,
    }),
    errors: claimed,
  }),
}
