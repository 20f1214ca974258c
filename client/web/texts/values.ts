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
