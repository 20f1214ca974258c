import { z } from 'zod'
import { logEntryOf } from '#server/domains/moderation/moderation/moderate'
import { moderationApplied } from '#server/domains/rooms/room-state/events/people'
import { InvitationFact } from '#server/domains/rooms/room-state/fact-schemas'
import { invitationsIn, messageIn, pollIn } from '#server/domains/rooms/room-state/facts'
import { Votes } from '#server/domains/rooms/room-state/model'
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

/** An act of the account, or a warning that it got, which does not name its moderator. */
const ArchivedAct = LogEntry.omit({ seq: true, hash: true }).extend({
  moderator_address: z.string().nullable(),
  room_name: z.string().nullable(),
})
type ArchivedAct = z.infer<typeof ArchivedAct>

const ArchivedInvitation = InvitationFact.omit({ token_hash: true }).extend({ room_name: z.string() })
type ArchivedInvitation = z.infer<typeof ArchivedInvitation>

const ArchivedAnswer = z.object({
  poll_id: z.string(),
  room_name: z.string(),
  question: z.string(),
  answers: z.array(z.string()),
})
type ArchivedAnswer = z.infer<typeof ArchivedAnswer>

const schemaOf = (entry: z.ZodType) => z.toJSONSchema(z.array(entry), { io: 'output', unrepresentable: 'any' })
export const actSchema = schemaOf(ArchivedAct)
export const invitationSchema = schemaOf(ArchivedInvitation)
export const answerSchema = schemaOf(ArchivedAnswer)

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

/** What an account has answered in polls, also in those of others, by the rooms that it can read. */
export async function* ownAnswers(
  node: Node,
  account: string,
  rooms: AsyncIterable<Conversation>,
): AsyncGenerator<ArchivedAnswer> {
  for await (const { key, name } of rooms) {
    const votes = await Votes.find({ user_address: account, room: key }).lean()
    const answers = await node.log.ask(key, (view) =>
      votes.flatMap(({ poll_id, options }): Omit<ArchivedAnswer, 'room_name'>[] => {
        const poll = pollIn(view, poll_id)
        if (!poll || messageIn(view, poll.message_id)?.body.deleted) return []
        return [{ poll_id, question: poll.question, answers: options.flatMap((at) => poll.options[at] ?? []) }]
      }),
    )
    for (const answer of answers) yield { ...answer, room_name: name }
  }
}
