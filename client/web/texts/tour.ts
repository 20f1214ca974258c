import { textCatalog } from './catalog.ts'

export const tourTexts = textCatalog('tour', {
  title: 'Tour',
  position: '{number} of {count}',
  next: 'Next: {title}',
  end: 'End the tour',
  hints: {
    guest: 'You are signed in: your browser created a key of its own. No extension, no password.',
    send: 'Send it. The message turns solid once it has its place in the room.',
    verdict: 'Links are off here. Send it, and see which check blocked the message, and why.',
    slow: 'Send it, and see when you can send the next message. A reload does not shorten the wait.',
    ask: 'Send it, and reload the page while the agent answers: the answer continues. Then stop it.',
    drop: 'Your connection is cut. Write something, wait a little, then reconnect: nothing is missing.',
    moderate: 'Choose a message and mute its sender: the live log shows it at once.',
  },
  drafts: {
    send: 'Hello from the tour',
    verdict: 'Look at https://example.org',
    slow: 'No hurry',
    ask: 'How does Plaza keep every message in order, and lose none? Tell me all of it, step by step.',
  },
  demo: {
    title: 'Demo',
    hint: '<strong>Demo.</strong> <said>The other people here are scripted.</said>',
    tour: 'Tour',
    drop: 'Drop my connection',
    hide: 'Hide this',
    moderate: 'Be the moderator',
    elsewhere: 'You moderate the rooms of the demo now, but not this one: it belongs to someone else.',
    moderator: 'You are the moderator now.',
  },
})
