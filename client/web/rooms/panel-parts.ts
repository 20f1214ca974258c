import { useMemo } from 'react'
import type { RoomState } from '#client/sdk/types'
import { type PanelName, panels } from '#shared/kit/pages'
import type { IconName } from '../kit/icon.tsx'
import { hasMedia } from '../media/words.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { kindOf } from './kind.ts'
import type { Rights } from './rights.ts'

export const panelTitles: Readonly<Record<PanelName, string>> = t.parts

export const panelIcons: Readonly<Record<PanelName, IconName>> = {
  members: 'people',
  media: 'image',
  pins: 'pin',
  search: 'search',
  moderation: 'shield',
}

/** The parts of the panel that have something to show in this room, and that the account may see, in their order. */
export function usePanelParts(state: RoomState, rights: Rights, isSealed: boolean): readonly PanelName[] {
  const { ref, messages, pins } = state
  const kind = kindOf(ref)
  const hasAnyMedia = useMemo(() => messages.some(hasMedia), [messages])
  const has: Readonly<Record<PanelName, boolean>> = {
    members: kind.tells.counts,
    media: hasAnyMedia,
    pins: pins.some((pin) => !pin.is_deleted),
    search: !isSealed,
    moderation: rights.isModerator && kind.hasModerators,
  }
  return panels.filter((name) => has[name])
}
