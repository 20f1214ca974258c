import type { TextTranslation } from '../catalog.ts'
import type { gatedRoomTexts as english } from '../gated-rooms.ts'

export const gatedRoomTexts: TextTranslation<typeof english> = {
  open: 'Öffnen',
  openOf: '{name} öffnen',
  join: 'Beitreten',
  joinOf: '{name} beitreten',
  near: {
    title: 'Räume in meiner Nähe',
    hint: 'Orte können einen Raum für die Leute haben, die dort sind.',
    empty: 'Keine Räume im Umkreis von {distance}',
    create: 'Raum erstellen',
    refresh: 'Aktualisieren',
    about: '{distance} entfernt · {count, plural, one {# Mitglied} other {# Mitglieder}} · im Umkreis von {radius}',
  },
  tokens: {
    title: 'Aus meinen Token',
    hint: 'Jede Veranstaltung hat einen Raum für alle, die ihren Token besitzen.',
    hintFor: 'Jede Veranstaltung hat einen Raum für alle, die ihren Token besitzen. Geprüft für {addresses}.',
    and: '{first} und {second}',
    empty: 'Keine Token gefunden',
    others: 'Für Besitzer anderer Token',
    create: 'Erstellen',
    createOf: 'Kanal von {name} erstellen',
    incomplete: 'Der Token-Anbieter hat nicht vollständig geantwortet. Die Liste ist vielleicht unvollständig.',
    unavailable: 'Dieser Server sucht nicht nach allen Token, weil kein Token-Anbieter eingerichtet ist.',
    members: '{count, plural, one {# Mitglied} other {# Mitglieder}}',
    noChannel: 'Noch kein Kanal',
    event: 'Veranstaltung · {about}',
    collection: 'Sammlung mit {count, plural, one {# Veranstaltung} other {# Veranstaltungen}} · {about}',
  },
}
