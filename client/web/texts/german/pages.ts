import type { TextTranslation } from '../catalog.ts'
import type { pageTexts as english, connectionTexts as englishConnectionTexts } from '../pages.ts'

export const pageTexts: TextTranslation<typeof english> = {
  channels: 'Kanäle',
  newRoom: 'Neuer Raum',
  nearRooms: 'Räume in meiner Nähe',
  ownTokens: 'Aus meinen Token',
  room: 'Raum',
  roomSettings: 'Raumeinstellungen',
  live: 'Live',
  goLive: 'Live gehen',
  livestream: 'Livestream',
  calls: 'Anrufe',
  friends: 'Freunde',
  starred: 'Markierte Nachrichten',
  ownProfile: 'Dein Profil',
  profile: 'Profil',
  agents: 'Agenten',
  newAgent: 'Neuer Agent',
  agent: 'Agent',
  settings: 'Einstellungen',
  admin: 'Verwaltung',
  invitation: 'Einladung',
  meeting: 'Besprechung',
  schedule: 'Anruf buchen',
  call: 'Anruf',
  opening: 'Wird geöffnet: {page}',
  messageHint: 'Dieser Link öffnet eine Nachricht, sobald du angemeldet bist.',
  skip: 'Zum Nachrichtenfeld springen',
  missing: 'Seite nicht gefunden',
  missingTitle: 'Seite nicht gefunden · Plaza',
  missingHint: 'Vielleicht ist die Adresse falsch geschrieben, oder die Seite wurde gelöscht.',
  home: 'Zu Plaza',
}

export const connectionTexts: TextTranslation<typeof englishConnectionTexts> = {
  caughtUp:
    'Aufgeholt: {events, plural, one {# Ereignis} other {# Ereignisse}}, {gaps, plural, one {# Lücke} other {# Lücken}}',
  problems: {
    offline: 'Du bist offline. Deine Nachrichten werden gesendet, sobald du wieder online bist.',
    rest: 'Eingeschränkte Verbindung. Neue Nachrichten kommen vielleicht verzögert an.',
    closed: 'Verbindung getrennt. Lade die Seite neu, um dich wieder zu verbinden.',
    cut: 'Du hast die Verbindung getrennt. Deine Nachrichten werden gesendet, sobald du dich wieder verbindest.',
  },
  reconnect: 'Wieder verbinden',
}
