import type { TextTranslation } from '../catalog.ts'
import type { controlTexts as english } from '../controls.ts'

export const controlTexts: TextTranslation<typeof english> = {
  backToRooms: 'Zurück zu den Räumen',
  remove: 'Entfernen',
  showMore: 'Mehr anzeigen',
  status: 'Status: {words}',
  copy: 'Kopieren',
  apart: 'Bild im Bild',
  whole: 'Vollbild',
  leaveWhole: 'Vollbild beenden',
  copied: {
    link: 'Link kopiert.',
    secret: 'Geheimnis kopiert.',
  },
  notCopied: 'Dieser Browser erlaubt kein Kopieren. Kopiere den Text aus seinem Feld.',
  position: {
    unsupported: 'Dieser Browser kennt deinen Standort nicht.',
    refused: 'Der Zugriff auf den Standort wurde abgelehnt. Erlaube ihn in den Einstellungen deines Browsers.',
    unknown: 'Dein Standort wurde nicht gefunden.',
    slow: 'Die Suche nach deinem Standort hat zu lange gedauert.',
  },
}
