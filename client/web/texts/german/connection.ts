import type { TextTranslation } from '../catalog.ts'
import type { connectionTexts as english } from '../connection.ts'

export const connectionTexts: TextTranslation<typeof english> = {
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
