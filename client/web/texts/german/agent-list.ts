import type { agentListTexts as english } from '../agent-list.ts'
import type { TextTranslation } from '../catalog.ts'

export const agentListTexts: TextTranslation<typeof english> = {
  title: 'Agenten',
  back: 'Zurück zu den Räumen',
  create: 'Neuer Agent',
  own: 'Deine',
  none: 'Noch keine Agenten',
  noneHint: 'Ein Agent antwortet so, wie du es ihm vorgibst. Erstelle einen oder frag einen der Agenten unten.',
  make: 'Agent erstellen',
  edit: 'Bearbeiten',
  editOne: '{name} bearbeiten',
  favorites: 'Favoriten',
  discover: 'Entdecken',
  find: 'Agent suchen',
  filters: {
    all: 'Alle',
    official: 'Offiziell',
    friends: 'Von Freunden',
  },
  notFound: 'Kein Agent passt zu diesen Wörtern',
  nothing: 'Noch keine Agenten zu entdecken',
  more: 'Mehr',
  noDescription: 'Keine Beschreibung',
  isFavorite: '{name} ist ein Favorit',
  unfavorite: 'Aus den Favoriten entfernen',
  favorite: 'Zu den Favoriten hinzufügen',
  facts: '{by}, {count, plural, one {# Antwort} other {# Antworten}}',
  by: 'von {name}',
  visibility: {
    private: 'Nur du',
    friends: 'Deine Freunde',
    public: 'Alle',
    official: 'Offiziell',
  },
}
