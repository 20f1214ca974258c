import { z } from 'zod'
import { patchFact, patchList, type Rewrite, setFact } from '#server/domains/rooms/events/define'
import type { Change, Row } from '#server/log/types'
import { isSameAccount } from '#shared/kit/accounts'
import {
  emptiedBody,
  type InvitationFact,
  keys,
  type MessageBody,
  type MessageFact,
  ModeratorFact,
  type PurgeFact,
  purgedBody,
  purgeOf,
  type RoomFact,
} from '../facts.ts'

export const patchMessage = (id: string, { next }: Pick<Rewrite, 'next'>): Change =>
  patchFact<MessageFact>(keys.message(id), (message) => ({ ...message, body: next(message.body) }))

export const unpinMessages = (ids: readonly string[]): Change =>
  patchList<string>(keys.pins, (pins) => pins.filter((pin) => !ids.includes(pin)))

export const memberCount = (member_count: number | undefined): Change[] =>
  member_count === undefined ? [] : [patchFact<RoomFact>(keys.room, (room) => ({ ...room, member_count }))]

/** The rights that end with a membership; null for each existing one. A grant may leave a limit. */
export const lostRights = {
  moderator: ModeratorFact.nullable().optional(),
  invitations: z.null().optional(),
}
type Lost = z.infer<z.ZodObject<typeof lostRights>>

/** A former member keeps no rights. */
export const memberGone = (row: Row, account: string, body: Lost & { member_count?: number | undefined }): Change[] => [
  setFact(keys.member(account), null),
  ...rightsLost(row, account, body),
  ...memberCount(body.member_count),
]

export const rightsLost = (row: Row, account: string, { moderator, invitations }: Lost): Change[] => [
  ...(moderator === undefined ? [] : [setFact(keys.moderator(account), moderator)]),
  ...(invitations === undefined ? [] : [takeInvitations(row, account)]),
]

export const changeInvitations = (
  isMeant: (invitation: InvitationFact) => boolean,
  change: Partial<InvitationFact>,
): Change =>
  patchList<InvitationFact>(keys.invitations, (all) => all.map((one) => (isMeant(one) ? { ...one, ...change } : one)))

/** Invitations of a person who may no longer invite stay revoked, even if the right returns. */
const takeInvitations = ({ at }: Row, account: string): Change =>
  changeInvitations(({ invited_by, revoked_at }) => isSameAccount(invited_by, account) && revoked_at === null, {
    revoked_at: new Date(at).toISOString(),
  })

/** The message with its new text and the related fields, from this row on. */
export const editRewrite = ({ seq }: Row, { body: after }: MessageFact) => ({
  next(body: MessageBody): MessageBody {
    if (body.deleted) return body
    const { media: _, ...kept } = body
    const { text, mentions, flagged, version, edited_at, media } = after
    const now = { text, mentions, flagged, version, edited_at, ...(media && { media }) }
    return { ...kept, ...now, edits: [...body.edits, seq] }
  },
})

/** The flag of a message with a flagged word, for moderators. */
export const flagOf = ({ id, body }: MessageFact): Change[] =>
  body.flagged.length > 0 ? [setFact(keys.flag(id), { words: body.flagged, content: body.text })] : []

/** A rewrite of the message of this id. */
export const messageRewrite = (id: string) => ({
  covers: ({ _id }: Row) => _id === id,
  takesBack: {
    edit: ({ body }: Row) => body.id === id,
    poll: ({ message_id }: { message_id: string }) => message_id === id,
  },
})

/** Deletes the message, with its poll. */
export const deletionRewrite = ({ sender, reason }: Row, at: string) => ({
  next: (body: MessageBody): MessageBody => ({ ...emptiedBody(body), deleted: { by: sender, at, reason } }),
})

/** Deletes the messages of an account in the range of the purge, with their polls. */
export function purgeRewrite(account: string | null, purge: PurgeFact): Rewrite {
  const isTaken = (sender: string, seq: number) =>
    isSameAccount(sender, account) && purgeOf({ seq }, [purge]) !== undefined
  return {
    covers: ({ sender, seq, body }) => isTaken(sender, seq) && !(body as unknown as MessageBody).deleted,
    next: (body) => purgedBody(body, purge),
    takesBack: {
      edit: ({ sender, body }) => isTaken(sender, (body.message as unknown as MessageFact).seq),
      poll: ({ creator_address, message_seq }) => isTaken(creator_address, message_seq),
    },
  }
}
