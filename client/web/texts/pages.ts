import { textCatalog } from './catalog.ts'

/** The names of pages, and what stands while none is open yet. */
export const pageTexts = textCatalog('pages', {
  channels: 'Channels',
  newRoom: 'New room',
  nearRooms: 'Rooms near me',
  ownTokens: 'From my tokens',
  room: 'Room',
  roomSettings: 'Room settings',
  live: 'Live',
  goLive: 'Go live',
  livestream: 'Livestream',
  calls: 'Calls',
  friends: 'Friends',
  starred: 'Starred messages',
  ownProfile: 'Your profile',
  profile: 'Profile',
  agents: 'Agents',
  newAgent: 'New agent',
  agent: 'Agent',
  settings: 'Settings',
  admin: 'Administration',
  invitation: 'Invitation',
  meeting: 'Meeting',
  schedule: 'Book a call',
  call: 'Call',
  opening: 'Opening: {page}',
  messageHint: 'This link opens a message once you are signed in.',
  skip: 'Skip to the message field',
  missing: 'Page not found',
  missingTitle: 'Page not found · Plaza',
  missingHint: 'The address may be mistyped, or its page was deleted.',
  home: 'Go to Plaza',
})

export const connectionTexts = textCatalog('connection', {
  caughtUp: 'Caught up: {events, plural, one {# event} other {# events}}, {gaps, plural, one {# gap} other {# gaps}}',
  problems: {
    offline: 'You’re offline. Messages you write are sent when you’re back online.',
    rest: 'Limited connection. New messages may arrive with a delay.',
    closed: 'Disconnected. Reload the page to reconnect.',
    cut: 'You disconnected. Messages you write are sent when you reconnect.',
  },
  reconnect: 'Reconnect',
})
