import type { TextTranslation } from '../catalog.ts'
import type { refusalTexts as english } from '../refusals.ts'

export const refusalTexts: TextTranslation<typeof english> = {
  codes: {
    BLOCKED_WORD: 'Deine Nachricht enthält ein gesperrtes Wort',
    MESSAGE_REJECTED: 'Deine Nachricht konnte nicht gesendet werden.',
    LINKS_NOT_ALLOWED: 'Links sind nicht erlaubt',
    CONTENT_NOT_ALLOWED: 'Dieser Inhalt ist nicht erlaubt',
    TEXT_TOO_COMPLEX: 'Diese Nachricht konnte nicht geprüft werden. Kürze oder vereinfache sie.',
    MESSAGE_TOO_LONG: 'Die Nachricht ist zu lang',
    EDIT_WINDOW_CLOSED: 'Nachrichten lassen sich 15 Minuten lang bearbeiten',
    BANNED: 'Du bist aus diesem Raum verbannt',
    BLOCKED: 'Du kannst dieser Person nicht schreiben',
    MUTED: 'Du bist in diesem Raum stummgeschaltet',
    READ_ONLY: 'In diesem Raum kann nur gelesen werden',
    SUSPENDED: 'Dein Konto ist gesperrt',
    ROOM_ARCHIVED: 'Dieser Raum ist archiviert',
    ROOM_NOT_FOUND: 'Diesen Raum gibt es nicht',
    NOT_A_MEMBER: 'Du bist kein Mitglied dieses Raums',
    USERNAME_TAKEN: 'Dieser Benutzername ist nicht verfügbar',
    INVITATION_NOT_FOUND: 'Diese Einladung ist unbekannt. Prüfe, ob der ganze Link kopiert wurde.',
    INVITATION_EXPIRED: 'Diese Einladung ist abgelaufen. Bitte um eine neue.',
    INVITATION_USED_UP: 'Diese Einladung ist aufgebraucht. Bitte um eine neue.',
    INVITATION_REVOKED: 'Diese Einladung wurde zurückgenommen. Bitte um eine neue.',
    CODE_EXPIRED: 'Der Code ist abgelaufen. Fordere einen neuen an.',
    TOO_MANY_ATTEMPTS: 'Zu viele Versuche. Fordere einen neuen Code an.',
    SLOT_TAKEN: 'Diese Zeit ist vergeben. Wähle eine andere.',
  },
}
