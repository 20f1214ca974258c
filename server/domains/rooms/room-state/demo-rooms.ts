import { roomKey } from '#shared/kit/primitives'
import { alpha } from '#shared/kit/room-key'

/** The channels of the demo, with ids that no clock gives before the year 9000. */
export const demoChannels = [1, 2, 3, 4, 5].map((place) => `de300000-0000-7000-8000-00000000000${place}`)
const demoChannelKeys = demoChannels.map((id) => roomKey({ type: 'channel', id }))

/** The only rooms in which the demo grants rights. */
export const demoRooms = [roomKey(alpha), ...demoChannelKeys]
