import type { TextTranslation } from '../catalog.ts'
import type { operationTexts as english } from '../operations.ts'

export const operationTexts: TextTranslation<typeof english> = {
  title: 'Installation',
  settings: 'Einstellungen',
  switches: {
    registration_open: 'Neue Personen können ein Konto anlegen',
    uploads_allowed: 'Dateien können hochgeladen werden',
  },
  notice: {
    title: 'Hinweis',
    hint: 'Wird allen, die die Seite öffnen, über allem anderen angezeigt.',
    show: 'Anzeigen',
    remove: 'Entfernen',
    shown: 'Ab jetzt sehen ihn alle.',
    removed: 'Der Hinweis ist entfernt.',
  },
  broadcast: {
    title: 'Rundnachricht',
    to: 'Empfänger',
    text: 'Nachricht',
    all_users: 'Alle, von Plaza',
    friends: 'Deine Freunde, von dir',
    send: 'Senden an {count, plural, one {# Person} other {# Personen}}',
    sent: 'An {count, plural, one {# Person} other {# Personen}} gesendet.',
    sending: 'An {sent} von {total} gesendet; die anderen bekommen sie bald.',
    reached: '{sent} von {total}',
    failed: '{count} nicht erreicht',
    underWay: 'wird gesendet',
  },
  cluster: {
    title: 'Cluster',
    loading: 'Knoten werden geladen',
    none: 'Noch kein Knoten hat sich gemeldet',
    noneHint: 'Jeder meldet sich alle drei Sekunden.',
    sum: '{nodes, plural, one {# Knoten} other {# Knoten}} mit {count, plural, one {# Verbindung} other {# Verbindungen}}, alle drei Sekunden aktualisiert.',
    node: 'Knoten',
    silent: 'still seit {time}',
    up: 'läuft seit {time}',
    rooms: '{count, plural, one {# Raum} other {# Räume}}',
    away: 'nicht erreichbar: {services}',
  },
  figures: {
    connections: 'Verbindungen',
    messages: 'Nachrichten',
    delivery: 'Zustellung',
    timers: 'Timer-Verzug',
    memory: 'Speicher',
  },
}
