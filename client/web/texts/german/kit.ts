import type { kitTexts as english } from '../kit.ts'
import type { SimpleTranslation } from '../simple-catalog.ts'

export const kitTexts: SimpleTranslation<typeof english> = {
  close: 'Schließen',
  retry: 'Erneut versuchen',
  deletedUser: 'Gelöschtes Konto',
  loading: 'Wird geladen',
  reload: 'Neu laden',
  notLoaded: 'Dieser Teil der Seite konnte nicht geladen werden.',
  tooMuch: 'Zu viele Anfragen.',
  retrying: 'Neuer Versuch in {time}',
  today: 'Heute',
  yesterday: 'Gestern',
  units: {
    d: '{count} Tg.',
    h: '{count} Std.',
    min: '{count} Min.',
    s: '{count} Sek.',
  },
  connection: {
    connecting: 'Verbindung wird hergestellt',
    online: 'Live',
    offline: 'Offline',
    rest: 'Live, verzögert',
    closed: 'Getrennt',
  },
  problems: {
    unknown: 'Etwas ist schiefgegangen.',
    unreachable: 'Der Server ist gerade nicht erreichbar.',
    tooMuch: 'Zu viele Anfragen. Versuche es in {time} noch einmal.',
  },
  codes: {
    SERVICE_UNAVAILABLE: 'Der Server ist gerade nicht erreichbar.',
    INTERNAL_ERROR: 'Auf dem Server ist etwas schiefgegangen. Versuche es gleich noch einmal.',
    DATABASE_ERROR: 'Auf dem Server ist etwas schiefgegangen. Versuche es gleich noch einmal.',
    UNAUTHORIZED: 'Melde dich dafür an.',
    INVALID_SIGNATURE: 'Die Signatur passt nicht zu dieser Wallet. Versuche es noch einmal.',
    NONCE_EXPIRED: 'Die Anmeldenachricht ist abgelaufen. Versuche es noch einmal.',
    INVALID_NONCE: 'Die Anmeldenachricht wurde schon benutzt. Versuche es noch einmal.',
    INVALID_CODE: 'Dieser Code ist falsch. Prüfe ihn und versuche es noch einmal.',
    PASSKEY_NOT_FOUND: 'Dieser Passkey ist hier unbekannt. Nimm einen anderen oder erstelle ein Konto.',
    UPSTREAM_ERROR: 'Ein Dienst, der dafür nötig ist, hat einen Fehler gemeldet. Versuche es später noch einmal.',
    TIMEOUT: 'Ein Dienst, der dafür nötig ist, hat nicht geantwortet. Versuche es später noch einmal.',
  },
}
