import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'

const keyOf = (account: string, ref: RoomRef) => `plaza.draft.${account}.${roomKey(ref)}`

export const readDraft = (account: string, ref: RoomRef): string => localStorage.getItem(keyOf(account, ref)) ?? ''

export function keepDraft(account: string, ref: RoomRef, text: string): void {
  if (text) localStorage.setItem(keyOf(account, ref), text)
  else localStorage.removeItem(keyOf(account, ref))
}
