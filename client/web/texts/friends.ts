import { textCatalog } from './catalog.ts'

export const friendTexts = textCatalog('friends', {
  title: 'Friends',
  addTitle: 'Add friend',
  addField: 'Username, name or address',
  addHint: 'Enter a username, name or address',
  add: 'Send friend request',
  sent: '{count, plural, one {Friend request sent.} other {# friend requests sent.}}',
  incoming: 'Friend requests',
  accept: 'Accept',
  acceptOf: 'Accept friend request from {name}',
  decline: 'Decline',
  declineOf: 'Decline friend request from {name}',
  outgoing: 'Sent requests',
  cancel: 'Cancel request',
  cancelOf: 'Cancel request to {name}',
  all: 'All friends',
  empty: 'No friends yet',
  emptyHint: 'Send a friend request above. Friends can add each other to groups without an invitation.',
  online: 'online',
  message: 'Message',
  messageTo: 'Message {name}',
})
