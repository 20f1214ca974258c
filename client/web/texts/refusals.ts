import { errors } from '#shared/errors'
import { textCatalog } from './catalog.ts'

/** The messages of the table of errors, for those that a person reads in the middle of something. */
export const refusalTexts = textCatalog('refusals', {
  codes: {
    BLOCKED_WORD: errors.BLOCKED_WORD[1],
    MESSAGE_REJECTED: errors.MESSAGE_REJECTED[1],
    LINKS_NOT_ALLOWED: errors.LINKS_NOT_ALLOWED[1],
    CONTENT_NOT_ALLOWED: errors.CONTENT_NOT_ALLOWED[1],
    TEXT_TOO_COMPLEX: errors.TEXT_TOO_COMPLEX[1],
    MESSAGE_TOO_LONG: errors.MESSAGE_TOO_LONG[1],
    EDIT_WINDOW_CLOSED: errors.EDIT_WINDOW_CLOSED[1],
    BANNED: errors.BANNED[1],
    BLOCKED: errors.BLOCKED[1],
    MUTED: errors.MUTED[1],
    READ_ONLY: errors.READ_ONLY[1],
    SUSPENDED: errors.SUSPENDED[1],
    ROOM_ARCHIVED: errors.ROOM_ARCHIVED[1],
    ROOM_NOT_FOUND: errors.ROOM_NOT_FOUND[1],
    NOT_A_MEMBER: errors.NOT_A_MEMBER[1],
    USERNAME_TAKEN: errors.USERNAME_TAKEN[1],
    INVITATION_NOT_FOUND: errors.INVITATION_NOT_FOUND[1],
    INVITATION_EXPIRED: errors.INVITATION_EXPIRED[1],
    INVITATION_USED_UP: errors.INVITATION_USED_UP[1],
    INVITATION_REVOKED: errors.INVITATION_REVOKED[1],
    CODE_EXPIRED: errors.CODE_EXPIRED[1],
    TOO_MANY_ATTEMPTS: errors.TOO_MANY_ATTEMPTS[1],
    SLOT_TAKEN: errors.SLOT_TAKEN[1],
  },
})
