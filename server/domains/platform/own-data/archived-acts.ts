import { z } from 'zod'
import { logEntryOf } from '#server/domains/moderation/moderation/moderate'
import { moderationApplied } from '#server/domains/rooms/room-state/events/people'
import { InvitationFact } from '#server/domains/rooms/room-state/fact-schemas'
import { invitationsIn } from '#server/domains/rooms/room-state/facts'
import type { Node } from '#server/kernel/context'
import { chainedRows } from '#server/log/store'
import { GLOBAL, type RoomKey, type Row } from '#server/log/types'
import { LogEntry } from '#shared/api/moderation/moderation-records'
import { isSameAccount } from '#shared/kit/accounts'

/** A current or former room of an account. */
export interface Conversation {
  key: RoomKey
  name: string
}

/** An act of the account, or a warning that it got. Who gave the warning is left out. */
const ArchivedAct = LogEntry.omit({ seq: true, hash: true }).extend({
  moderator_address: z.string().nullable(),
  room_name: z.string().nullable(),
})
type ArchivedAct = z.infer<typeof ArchivedAct>

const ArchivedInvitation = InvitationFact.omit({ token_hash: true }).extend({ room_name: z.string() })
type ArchivedInvitation = z.infer<typeof ArchivedInvitation>

const schemaOf = (entry: z.ZodType) => z.toJSONSchema(z.array(entry), { io: 'output', unrepresentable: 'any' })
export const actSchema = schemaOf(ArchivedAct)
export const invitationSchema = schemaOf(ArchivedInvitation)

const rowsAtOnce = 500

/** The acts of an account as a moderator, with their reasons, and the warnings that it got, by room. */
export async function* ownActs(account: string, rooms: readonly Conversation[]): AsyncGenerator<ArchivedAct> {
  for (const { key, name } of [{ key: GLOBAL, name: null }, ...rooms])
    for (let after = 0; ; ) {
      const rows = await chainedRows(key, { seq: { $gt: after, $lte: Number.MAX_SAFE_INTEGER } }, rowsAtOnce, 1)
      for (const row of rows) {
        const { seq: _seq, hash: _hash, ...entry } = logEntryOf(row)
        if (isSameAccount(row.sender, account)) yield { ...entry, room_name: name }
        else if (isWarningOf(row, account)) yield { ...entry, moderator_address: null, room_name: name }
      }
      if (rows.length < rowsAtOnce) break
      after = rows.at(-1)?.seq ?? after
    }
}

const isWarningOf = ({ type, target, body }: Row, account: string): boolean =>
  type === moderationApplied.type && body.action === 'warn' && target !== null && isSameAccount(target, account)

/** The links of invitation that an account has made, also those that have ended. */
export async function* ownInvitations(
  node: Node,
  account: string,
  rooms: readonly Conversation[],
): AsyncGenerator<ArchivedInvitation> {
  for (const { key, name } of rooms) {
    const all = await node.log.ask(key, (view) => invitationsIn(view))
    for (const { token_hash: _, ...invitation } of all)
      if (isSameAccount(invitation.invited_by, account)) yield { ...invitation, room_name: name }
  }
}
