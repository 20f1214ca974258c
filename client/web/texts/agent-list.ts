import { textCatalog } from './catalog.ts'

/** The list of agents. */
export const agentListTexts = textCatalog('agent-list', {
  title: 'Agents',
  back: 'Back to the rooms',
  create: 'New agent',
  own: 'Yours',
  none: 'No agents yet',
  noneHint: 'An agent answers in the way you tell it to. Make one, or ask one of those below.',
  make: 'Make an agent',
  edit: 'Edit',
  editOne: 'Edit {name}',
  favorites: 'Favorites',
  discover: 'Discover',
  find: 'Find an agent',
  filters: {
    all: 'All',
    official: 'Official',
    friends: 'Of friends',
  },
  notFound: 'No agent fits these words',
  nothing: 'No agents to discover yet',
  more: 'More',
  noDescription: 'No description',
  isFavorite: '{name} is a favorite',
  unfavorite: 'Take it out of your favorites',
  favorite: 'Keep it among your favorites',
  facts: '{by}, {count, plural, one {# answer} other {# answers}}',
  by: 'by {name}',
  visibility: {
    private: 'Only you',
    friends: 'Your friends',
    public: 'Everybody',
    official: 'Official',
  },
})
