import type { TextTranslation } from '../catalog.ts'
import type { starTexts as english } from '../stars.ts'

export const starTexts: TextTranslation<typeof english> = {
  title: 'Markierte Nachrichten',
  empty: 'Keine markierten Nachrichten',
  emptyHint: 'Markiere eine Nachricht in ihrem Menü, um sie hier zu finden. Nur du siehst deine Markierungen.',
  sealed: 'Öffne die Unterhaltung, um diese Nachricht zu lesen',
  remove: 'Markierung entfernen',
}
