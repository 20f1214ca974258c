import type { TextTranslation } from '../catalog.ts'
import type { friendTexts as english } from '../friends.ts'

export const friendTexts: TextTranslation<typeof english> = {
  title: 'Freunde',
  addTitle: 'Freund hinzufügen',
  addField: 'Benutzername, Name oder Adresse',
  addHint: 'Gib einen Benutzernamen, einen Namen oder eine Adresse ein',
  add: 'Anfrage senden',
  sent: '{count, plural, one {Freundschaftsanfrage gesendet.} other {# Freundschaftsanfragen gesendet.}}',
  incoming: 'Freundschaftsanfragen',
  accept: 'Annehmen',
  acceptOf: 'Freundschaftsanfrage von {name} annehmen',
  decline: 'Ablehnen',
  declineOf: 'Freundschaftsanfrage von {name} ablehnen',
  outgoing: 'Gesendete Anfragen',
  cancel: 'Anfrage zurückziehen',
  cancelOf: 'Anfrage an {name} zurückziehen',
  all: 'Alle Freunde',
  empty: 'Noch keine Freunde',
  emptyHint: 'Sende oben eine Freundschaftsanfrage. Freunde können einander ohne Einladung zu Gruppen hinzufügen.',
  online: 'online',
  message: 'Nachricht',
  messageTo: 'Nachricht an {name}',
}
