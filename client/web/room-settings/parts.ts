import { type RoomSettingsPart, roomSettingsParts } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { kindOf, lookOf } from '../rooms/kind.ts'
import type { Rights } from '../rooms/rights.ts'

/** The parts of the settings of a room that the account may use; none for its other members. */
export function roomSettingsPartsOf(room: RoomRef, rights: Rights): readonly RoomSettingsPart[] {
  const { hasModerators, joining, runBy, id, idField } = kindOf(room)
  if (!hasModerators) return []
  const { isModerator, isAdmin, canManage, canSetTopic } = rights
  const may: Readonly<Record<RoomSettingsPart, boolean>> = {
    overview: canSetTopic || isModerator,
    roles: isModerator,
    permissions: isModerator,
    words: canManage,
    invitations: canManage && joining !== 'from the id',
    // The agents of a place are not listed by any operation.
    agents: isModerator && (id === 'none' || idField === 'channel_id'),
    webhooks: isAdmin,
    audit: isModerator,
    // A stream ends by its own button, and its owner stays in it.
    danger: isAdmin && runBy !== null && !lookOf(room).isWatched,
  }
  return roomSettingsParts.filter((part) => may[part])
}
