import type { TextTranslation } from '../catalog.ts'
import type { deleteAccountTexts as english } from '../delete-account.ts'

export const deleteAccountTexts: TextTranslation<typeof english> = {
  title: 'Konto löschen',
  kept: 'Dieses Konto sollte gelöscht werden. Du hast es behalten, weil du dich am {time} angemeldet hast.',
  hint: 'Entfernt dein Konto und alles, was dir gehört. Lade vorher deine Daten herunter.',
  begun: 'Dein Konto wird am {time} gelöscht. Melde dich vorher an, um es zu behalten.',
  counts: {
    rooms:
      '{count, plural, one {# Raum} other {# Räume}}: Jemand aus der Moderation oder ein Mitglied übernimmt, oder der Raum wird archiviert.',
    agents: '{count, plural, one {# Agent} other {# Agenten}}: gelöscht.',
    streams:
      '{count, plural, one {# Livestream} other {# Livestreams}}: beendet und gelöscht, samt allen Aufzeichnungen.',
    calls:
      '{count, plural, one {# bevorstehender Anruf} other {# bevorstehende Anrufe}}: abgesagt, mit einer E-Mail an die andere Person.',
    webhooks: '{count, plural, one {# Webhook} other {# Webhooks}}: gelöscht.',
    payments:
      '{count, plural, one {# Zahlung} other {# Zahlungen}}: ohne deinen Namen aufbewahrt, wie es das Steuerrecht verlangt.',
  },
  others: 'Dein Profil, Freunde, Dateien, Geräte und Einstellungen: gelöscht.',
  grace:
    'Du wirst sofort abgemeldet. {days, plural, one {# Tag} other {# Tage}} lang kannst du dich anmelden, um das Konto zu behalten.',
  atOnce: 'Das geschieht sofort und kann nicht rückgängig gemacht werden.',
  messages: 'Deine Nachrichten',
  unlink: 'Für andere behalten, als Nachrichten von „Deleted user“',
  erase: 'Überall löschen',
  confirm: 'Gib zur Bestätigung {name} ein',
}
