import { textCatalog } from './catalog.ts'

/** What admins see and decide of the installation. */
export const operationTexts = textCatalog('operations', {
  title: 'Installation',
  settings: 'Settings',
  switches: {
    registration_open: 'New people can create an account',
    uploads_allowed: 'Files can be uploaded',
  },
  notice: {
    title: 'Notice',
    hint: 'Shown above everything else to everyone who opens the page.',
    show: 'Show it',
    remove: 'Remove it',
    shown: 'Everyone sees it from now on.',
    removed: 'The notice is removed.',
  },
  broadcast: {
    title: 'Broadcast',
    to: 'Recipients',
    text: 'Message',
    all_users: 'Everyone, from Plaza',
    friends: 'Your friends, from you',
    send: 'Send to {count, plural, one {# person} other {# people}}',
    sent: 'Sent to {count, plural, one {# person} other {# people}}.',
    sending: 'Sent to {sent} of {total}; the others get it soon.',
    reached: '{sent} of {total}',
    failed: '{count} not reached',
    underWay: 'sending',
  },
  cluster: {
    title: 'Cluster',
    loading: 'Loading the nodes',
    none: 'No node has reported yet',
    noneHint: 'Each one reports every three seconds.',
    sum: '{nodes, plural, one {# node} other {# nodes}} with {count, plural, one {# connection} other {# connections}}, refreshed every three seconds.',
    node: 'Node',
    silent: 'silent since {time}',
    up: 'up for {time}',
    rooms: '{count, plural, one {# room} other {# rooms}}',
    away: 'away: {services}',
  },
  figures: {
    connections: 'Connections',
    messages: 'Messages',
    delivery: 'Delivery',
    timers: 'Timers late',
    memory: 'Memory',
  },
})
