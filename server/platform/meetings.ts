import type { Config } from '#server/config'
import type { Database } from '#server/ports/database/port'
import { liveKitMeetings } from '#server/ports/meetings/livekit'
import { localMeetings } from '#server/ports/meetings/local'
import type { Meetings } from '#server/ports/meetings/port'
import type { SessionKeys } from '#server/session-keys'
import type { PartsOf } from './part.ts'

export const openMeetings = ({ liveKit }: Config, { now }: Database, keys: SessionKeys): Meetings =>
  liveKit ? liveKitMeetings(liveKit, now) : localMeetings({ keys, now })

export const meetingsParts: PartsOf<'meetings'> = {
  meetings: ({ liveKit }) =>
    liveKit
      ? { part: 'meetings', adapter: `livekit at ${new URL(liveKit.url).host}`, why: 'LIVEKIT_URL is set' }
      : {
          part: 'meetings',
          adapter: 'local',
          why: 'LIVEKIT_URL is not set: browsers meet each other, over this server',
        },
}
