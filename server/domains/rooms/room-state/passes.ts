import type { RoomKey, View } from '#server/log/types'
import type { Gate } from '#shared/api/rooms/gates'
import { isSameAccount } from '#shared/kit/accounts'
import { isAgent } from '#shared/kit/room-agents'
import { type RoomFact, roomIn } from './facts.ts'

/** The proof that an account passed a room's gate. Only `enter` makes it, after asking the gate. */
export interface Pass {
  readonly room: RoomKey
  readonly account: string
}

/** The gate that an account must pass. Founders set it and admins bring in agents, so neither has to. */
export const gateFor = (room: RoomFact, account: string): Gate | null =>
  isSameAccount(room.creator_address, account) || isAgent(account) ? null : room.gate

export function passesGate(view: View, account: string, pass: Pass | null): boolean {
  const room = roomIn(view)
  if (room === null || gateFor(room, account) === null) return true
  return pass !== null && pass.room === view.room && isSameAccount(pass.account, account)
}
