import { textCatalog } from './catalog.ts'

/** The lists of rooms near a place, and of rooms for holders of tokens. */
export const gatedRoomTexts = textCatalog('gated-rooms', {
  open: 'Open',
  openOf: 'Open {name}',
  join: 'Join',
  joinOf: 'Join {name}',
  near: {
    title: 'Rooms near me',
    hint: 'Places can have a room for people who are there.',
    empty: 'No rooms within {distance}',
    create: 'Create one',
    refresh: 'Refresh',
    about: '{distance} away · {count, plural, one {# member} other {# members}} · within {radius}',
  },
  tokens: {
    title: 'From my tokens',
    hint: 'Every event has a room for everyone who holds its token.',
    hintFor: 'Every event has a room for everyone who holds its token. Checked for {addresses}.',
    and: '{first} and {second}',
    empty: 'No tokens found',
    others: 'For holders of other tokens',
    create: 'Create',
    createOf: 'Create the channel of {name}',
    incomplete: 'The token provider did not answer completely. The list may be incomplete.',
    unavailable: 'This server does not look up all tokens, because no token provider is configured.',
    members: '{count, plural, one {# member} other {# members}}',
    noChannel: 'No channel yet',
    event: 'Event · {about}',
    collection: 'Collection of {count, plural, one {# event} other {# events}} · {about}',
  },
})
