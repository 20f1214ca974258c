import { errors } from '#shared/errors'
import { textCatalog } from './catalog.ts'

/** Values of the contract as people read them. */
export const valueTexts = textCatalog('values', {
  roles: {
    owner: 'owner',
    admin: 'admin',
    moderator: 'moderator',
    member: 'member',
  },
  reports: {
    spam: 'spam',
    harassment: 'harassment',
    hate_speech: 'hate speech',
    violence: 'violence',
    scam: 'scam',
    impersonation: 'impersonation',
    inappropriate_content: 'inappropriate content',
    other: 'other',
    blocked_word: 'blocked word',
  },
  bugs: {
    Agents: 'Agents',
    Friends: 'Friends',
    Calls: 'Calls',
    Chats: 'Chats',
    Rooms: 'Rooms',
    Livestream: 'Livestream',
    Settings: 'Settings',
    Configuration: 'Configuration',
    Other: 'Other',
  },
  /** What a preview says of a message without words. */
  previews: {
    Photo: 'Photo',
    'Voice message': 'Voice message',
    GIF: 'GIF',
    'Pixel art': 'Pixel art',
    Poll: 'Poll',
    Location: 'Location',
    File: 'File',
    'Direct message': 'Direct message',
    'Sealed message': 'Sealed message',
    'Message deleted': 'Message deleted',
    'Somebody you have blocked': 'Somebody you have blocked',
  },
  rules: {
    links_allowed: 'links',
    photos_allowed: 'photos',
    pixel_art_allowed: 'pixel art',
    gifs_allowed: 'gifs',
    polls_allowed: 'polls',
    location_sharing_allowed: 'location sharing',
    voice_allowed: 'voice',
    files_allowed: 'files',
    read_only: 'read only',
    slow_mode_seconds: 'slow mode',
    max_message_length: 'max message length',
    rules_text: 'rules text',
    read_access: 'read access',
    message_ttl: 'message ttl',
  },
})

/** The text of a value; one that only a newer server knows is shown by its name. */
export const valueText = (texts: Readonly<Record<string, string>>, value: string): string =>
  (Object.hasOwn(texts, value) && texts[value]) || value.replaceAll('_', ' ')

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
