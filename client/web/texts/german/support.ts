import type { TextTranslation } from '../catalog.ts'
import type { supportTexts as english } from '../support.ts'

export const supportTexts: TextTranslation<typeof english> = {
  report: {
    title: 'Problem melden',
    category: 'Kategorie',
    description: 'Was ist schiefgegangen?',
    steps: 'Schritte, um es nachzuvollziehen (optional)',
    files: 'Screenshots und Videos',
    addFiles: 'Screenshots oder Videos hinzufügen',
    filesChosen: '{count, plural, one {# Datei ausgewählt} other {# Dateien ausgewählt}}',
    filesHint: 'Alle mit dem Link zu einer Datei können sie ansehen.',
    send: 'Meldung senden',
    sent: 'Danke. Deine Meldung ist bei den Admins.',
  },
  reports: {
    filter: 'Status',
    list: 'Problemmeldungen',
    empty: 'Keine Meldungen',
    emptyHint: 'Probleme werden in den Einstellungen gemeldet.',
    file: 'Datei {number}',
    from: 'Von <who>{name}</who>',
  },
  states: {
    open: 'Offen',
    in_progress: 'In Arbeit',
    resolved: 'Gelöst',
    closed: 'Geschlossen',
  },
  contact: {
    title: 'Kontakt',
    hint: 'Deine Nachricht geht an das Team, das diesen Server betreibt. Es antwortet per E-Mail.',
    name: 'Dein Name',
    email: 'Deine E-Mail-Adresse',
    message: 'Nachricht',
    send: 'Senden',
  },
}
