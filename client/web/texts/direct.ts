import { textCatalog } from './catalog.ts'

export const directTexts = textCatalog('direct', {
  you: 'You',
  opening: 'Opening',
  badge: {
    verified: 'End-to-end encrypted',
    unverified: 'End-to-end encrypted, not verified',
    unavailable: 'Messages cannot be opened here',
    stopped: 'New devices need your approval',
    sharedKey: 'Encrypted at rest; the operator holds the key',
    told: 'Not secret: an announcement from Plaza',
  },
  clear: {
    epoch: 'Not secret: sent before direct messages were end-to-end encrypted.',
    'shared-key': 'Stored in clear: sent before this room had a key.',
    system: 'Not secret: sent to many people at once.',
    welcome: 'Not secret: sent to everyone who is new here.',
  },
  locked: {
    'no key':
      'This message cannot be opened on this device yet. It opens once a device with its key is online and has approved this one.',
    untrusted: 'This message cannot be opened: its key comes from a new device that you have not approved.',
    damaged: 'This message cannot be opened: it is damaged, or was changed on its way.',
    malformed: 'This message cannot be read: its format is unknown.',
    'no storage': 'This message cannot be opened: this browser stores no keys.',
    'no member': 'This message cannot be opened: only members of this room have its key.',
  },
  news: {
    list: 'Devices',
    forged: '{name}: a device with a wrong certificate claims to be part of this account. It gets no messages.',
    changed: '{name}: a device has a new key. Someone may be intercepting your messages.',
    waiting: '{name} signed in on a new device that is not verified.',
    trusted: '{name} signed in on a new device.',
    hold: 'Nothing is sent until you approve these devices. If you are not sure, compare the safety number.',
    approve: 'Approve devices',
  },
  safety: {
    title: 'Safety number',
    who: 'Only your devices can read the text and media here; the people who run this server cannot. They can see who writes to whom and when, the length of messages, reactions and pins. Search, link previews, blocked words and agents do not work here, because they would have to read the messages.',
    compare:
      'Compare these numbers with the other person, on a call or side by side. If they match, nobody is intercepting your messages.',
    verified: '{state} · verified by the account · first seen {time}',
    unverified: '{state} · not verified · first seen {time}',
  },
  devices: {
    trusted: 'can read messages',
    waiting: 'waiting for your approval',
    changed: 'has a new key',
    forged: 'has a wrong certificate',
    'left out': 'cannot read messages',
  },
  sharedKey: {
    who: 'The members of this room share one key for its text and media. Whoever steals the data of this server or a backup cannot read them, and neither can people outside the room.',
    operator:
      'The people who run this server hold the key and can read everything. Former members may have kept the key, which does not change when someone leaves. Older messages without the key are marked.',
    limits:
      'Search, polls, link previews, blocked words and agents do not work here, because they would have to read the messages. Bans, mutes, slow mode and read-only do.',
  },
})
