import type { TextTranslation } from '../catalog.ts'
import type { switcherTexts as english } from '../switcher.ts'

export const switcherTexts: TextTranslation<typeof english> = {
  title: 'Gehen zu',
  field: 'Räume, Personen, Einstellungen und Aktionen suchen',
  example: 'Raum, Person oder Einstellung',
  results: 'Ergebnisse',
  groups: {
    unread: 'Ungelesen',
    recent: 'Zuletzt',
    acts: 'Aktionen',
  },
  kinds: {
    rooms: 'Raum',
    groups: 'Gruppe',
    direct: 'Direktnachricht',
    friend: 'Freund',
    person: 'Person',
    page: 'Seite',
    settings: 'Einstellungen',
    act: 'Aktion',
  },
  detail: '{kind} · {about}',
  setting: '{settings} → {section}',
  acts: {
    message: 'Neue Nachricht',
    appearance: 'Darstellung',
    keys: 'Tastenkürzel',
    signOut: 'Abmelden',
  },
  count: '{count, plural, one {# Ergebnis} other {# Ergebnisse}}',
  loading: 'Deine Räume werden geladen …',
  failed: 'Deine Räume konnten nicht geladen werden.',
  searching: 'Personen werden gesucht …',
  unsearched: 'Personen können im Moment nicht gesucht werden.',
  untyped: 'Gib einen Namen ein.',
  none: 'Nichts passt zu „{query}“.',
  offline: 'Du bist offline. Durchsucht werden nur deine Räume, Freunde und Einstellungen.',
  hints: {
    choose: 'Auswählen',
    go: 'Öffnen',
    people: 'Personen',
    rooms: 'Räume',
  },
}
