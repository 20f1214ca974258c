import type { TextTranslation } from '../catalog.ts'
import type { valueTexts as english } from '../values.ts'

export const valueTexts: TextTranslation<typeof english> = {
  roles: {
    owner: 'Besitzer',
    admin: 'Admin',
    moderator: 'Moderator',
    member: 'Mitglied',
  },
  reports: {
    spam: 'Spam',
    harassment: 'Belästigung',
    hate_speech: 'Hassrede',
    violence: 'Gewalt',
    scam: 'Betrug',
    impersonation: 'falsche Identität',
    inappropriate_content: 'unangemessener Inhalt',
    other: 'anderes',
    blocked_word: 'gesperrtes Wort',
  },
  bugs: {
    Agents: 'Agenten',
    Friends: 'Freunde',
    Calls: 'Anrufe',
    Chats: 'Chats',
    Rooms: 'Räume',
    Livestream: 'Livestream',
    Settings: 'Einstellungen',
    Configuration: 'Konfiguration',
    Other: 'Anderes',
  },
  rules: {
    links_allowed: 'Links',
    photos_allowed: 'Fotos',
    pixel_art_allowed: 'Pixel-Art',
    gifs_allowed: 'GIFs',
    polls_allowed: 'Umfragen',
    location_sharing_allowed: 'Standorte',
    voice_allowed: 'Sprachnachrichten',
    files_allowed: 'Dateien',
    read_only: 'Schreibschutz',
    slow_mode_seconds: 'Slow Mode',
    max_message_length: 'Höchstlänge',
    rules_text: 'Regeltext',
    read_access: 'Leserecht',
    message_ttl: 'Entfernen von Nachrichten',
  },
}
