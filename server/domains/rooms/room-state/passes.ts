import type { RoomKey, View } from '#server/log/types'
import type { Gate } from '#shared/api/gates'
import { isSameAccount } from '#shared/kit/accounts'
import { isAgent } from '#shared/kit/room-agents'
import { type RoomFact, roomIn } from './facts.ts'

/** That somebody was found to have what a room asks for. Made by `enter` alone, which has asked the gate. */
export interface Pass {
  readonly room: RoomKey
  readonly account: string
}

/** The gate that somebody has to pass. Founders set it, and agents are brought in by admins: neither is asked. */
export const gateFor = (room: RoomFact, account: string): Gate | null =>
  isSameAccount(room.creator_address, account) || isAgent(account) ? null : room.gate

export function isLetThrough(view: View, account: string, pass: Pass | null): boolean {
  const room = roomIn(view)
  if (room === null || gateFor(room, account) === null) return true
  return pass !== null && pass.room === view.room && isSameAccount(pass.account, account)
}
