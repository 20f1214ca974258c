import { textCatalog } from './catalog.ts'

/** The search over rooms, people, pages, settings and actions. */
export const switcherTexts = textCatalog('switcher', {
  title: 'Go to',
  field: 'Search rooms, people, settings and actions',
  example: 'Room, person or setting',
  results: 'Results',
  groups: {
    unread: 'Unread',
    recent: 'Recent',
    acts: 'Actions',
  },
  kinds: {
    rooms: 'Room',
    groups: 'Group',
    direct: 'Direct message',
    friend: 'Friend',
    person: 'Person',
    page: 'Page',
    settings: 'Settings',
    act: 'Action',
  },
  detail: '{kind} · {about}',
  setting: '{settings} → {section}',
  acts: {
    message: 'New message',
    appearance: 'Appearance',
    keys: 'Keyboard shortcuts',
    signOut: 'Sign out',
  },
  count: '{count, plural, one {# result} other {# results}}',
  loading: 'Loading your rooms…',
  failed: 'Your rooms could not be loaded.',
  searching: 'Searching people…',
  unsearched: 'People cannot be searched at the moment.',
  untyped: 'Type a name.',
  none: 'Nothing matches “{query}”.',
  offline: 'You are offline, so only your rooms, friends and settings are searched.',
  hints: {
    choose: 'Choose',
    go: 'Open',
    people: 'People',
    rooms: 'Rooms',
  },
})
