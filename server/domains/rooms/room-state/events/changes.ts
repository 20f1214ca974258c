import { z } from 'zod'
import { absolute, patch, patchList } from '#server/domains/rooms/events/changes'
import type { Rewrite } from '#server/domains/rooms/events/define'
import type { Change, Row } from '#server/log/types'
import { isSameAccount } from '#shared/kit/accounts'
import {
  emptied,
  type InvitationFact,
  keys,
  type MessageBody,
  type MessageFact,
  ModeratorFact,
  type RoomFact,
} from '../facts.ts'

export const patchMessage = (id: string, { next }: Pick<Rewrite, 'next'>): Change =>
  patch<MessageFact>(keys.message(id), (message) => ({ ...message, body: next(message.body) }))

export const unpin = (ids: readonly string[]): Change =>
  patchList<string>(keys.pins, (pins) => pins.filter((pin) => !ids.includes(pin)))

export const memberCount = (member_count: number | undefined): Change[] =>
  member_count === undefined ? [] : [patch<RoomFact>(keys.room, (room) => ({ ...room, member_count }))]

/** What goes with somebody's rights; each is null where there was some. A grant may leave a limit behind. */
export const lost = {
  moderator: ModeratorFact.nullable().optional(),
  invitations: z.null().optional(),
}
type Lost = z.infer<z.ZodObject<typeof lost>>

/** Who is gone keeps no rights. */
export const gone = (row: Row, account: string, body: Lost & { member_count?: number | undefined }): Change[] => [
  absolute(keys.member(account), null),
  ...rightsLost(row, account, body),
  ...memberCount(body.member_count),
]

export const rightsLost = (row: Row, account: string, { moderator, invitations }: Lost): Change[] => [
  ...(moderator === undefined ? [] : [absolute(keys.moderator(account), moderator)]),
  ...(invitations === undefined ? [] : [takeInvitations(row, account)]),
]

export const changeInvitations = (
  isMeant: (invitation: InvitationFact) => boolean,
  change: Partial<InvitationFact>,
): Change =>
  patchList<InvitationFact>(keys.invitations, (all) => all.map((one) => (isMeant(one) ? { ...one, ...change } : one)))

/** The invitations of who may invite no more stay taken back, also where the right is given again. */
const takeInvitations = ({ at }: Row, account: string): Change =>
  changeInvitations(({ invited_by, revoked_at }) => isSameAccount(invited_by, account) && revoked_at === null, {
    revoked_at: new Date(at).toISOString(),
  })

/** The message with the text, and what goes with it, that it has from this row on. */
export const edited = ({ seq }: Row, { body: after }: MessageFact) => ({
  next(body: MessageBody): MessageBody {
    if (body.deleted) return body
    const { media: _, ...kept } = body
    const { text, mentions, flagged, version, edited_at, media } = after
    const now = { text, mentions, flagged, version, edited_at, ...(media && { media }) }
    return { ...kept, ...now, edits: [...body.edits, seq] }
  },
})

/** What moderators are to see of a message, where a word in it is to be looked at. */
export const flagOf = ({ id, body }: MessageFact): Change[] =>
  body.flagged.length > 0 ? [absolute(keys.flag(id), { words: body.flagged, content: body.text })] : []

/** A rewrite of the one message of this id. */
export const ofMessage = (id: string) => ({
  covers: ({ _id }: Row) => _id === id,
  takesBack: {
    edit: ({ body }: Row) => body.id === id,
    poll: ({ message_id }: { message_id: string }) => message_id === id,
  },
})

/** The message is taken back, with its poll where it asked one. */
export const takenBack = ({ sender, reason }: Row, at: string) => ({
  next: (body: MessageBody): MessageBody => ({ ...emptied(body), deleted: { by: sender, at, reason } }),
})
