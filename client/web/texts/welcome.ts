import { simpleCatalog } from './simple-catalog.ts'

/** What signed-out visitors see first. */
export const welcomeTexts = simpleCatalog('welcome', {
  opening: 'Opening Plaza',
  openingTour: 'Opening the tour',
  wait: 'One moment',
  failed: 'Plaza cannot open',
  signOut: 'Sign out',
  live: 'Live now',
  pitch: 'Chat in real time, with every message in order.',
  pitchMore:
    'Everyone in a room sees the same messages in the same order. Moderation takes effect at once. A message that is blocked tells you why.',
  ended: 'You were signed out. Sign in again.',
  invited: '{name} invited you to join this room.',
  openingLink: 'Signing you in…',
  contact: 'Contact',
  link: {
    title: 'Sign in with this link?',
    question:
      'This link signs you in as {email}. It was requested in another browser. Continue only if this is your email address.',
    open: 'Sign in as {email}',
    leave: 'Cancel',
  },
  facts: {
    verdictTitle: 'One set of rules',
    verdict: 'Every message passes the same eleven checks, from the app and from the API.',
    orderTitle: 'One order',
    order: 'Everyone in a room sees the same messages in the same order.',
    lossTitle: 'Nothing lost',
    loss: 'Lose your connection and come back: every message is in its place.',
  },
  guest: 'Enter as guest',
  guestAgain: 'Continue as guest',
  guestConfirm: 'Confirm as guest',
  guestHint: 'A guest account is a key stored in this browser only. It works like a wallet, with no funds.',
  signingIn: 'Signing in…',
  ways: {
    passkey: 'Passkey',
    email: 'Email',
    wallet: 'Wallet',
    worldid: 'Proof of human',
    alien: 'Partner account',
  },
  /** The room at whose address a visitor has come. */
  room: {
    members: 'Members: {count}',
    join: 'Sign in or enter as a guest to join.',
  },
  preview: {
    title: '{name}, live',
    room: 'Public room',
    demo: 'Demo: the other people here are scripted.',
    empty: 'No messages yet',
    emptyHint: 'Sign in to write the first one.',
  },
  tour: 'Or take the tour as a guest',
  steps: {
    guest: 'Join as a guest',
    send: 'Send a message',
    verdict: 'Get a link blocked',
    slow: 'Wait in slow mode',
    ask: 'Ask an agent',
    drop: 'Lose the connection',
    moderate: 'Be the moderator',
  },
  theme: {
    light: 'Use light theme',
    dark: 'Use dark theme',
  },
})
