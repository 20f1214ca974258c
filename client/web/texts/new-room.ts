import { textCatalog } from './catalog.ts'

export const newRoomTexts = textCatalog('new-room', {
  title: 'New room',
  type: 'Type of room',
  name: 'Name',
  about: 'Description (optional)',
  cancel: 'Cancel',
  creating: 'Creating…',
  createChannel: {
    title: 'Channel',
    hint: 'Open to everyone. You own it and set its rules.',
    create: 'Create channel',
  },
  createGroup: {
    title: 'Group',
    hint: 'Invitation only. Friends are added at once, others have to accept.',
    create: 'Create group',
    members: 'Names, @usernames or addresses of the members (optional)',
  },
  createTokenRoom: {
    title: 'Token room',
    hint: 'For holders of a token. Its chain is checked whenever someone joins.',
    create: 'Create token room',
    address: 'Token address, ERC-20 or ERC-721 (0x…)',
    chain: 'Chain ID',
    least: 'Minimum balance of members',
    addressInvalid: 'A token address is 0x and 40 digits or letters from a to f.',
    chainUnknown: 'This server does not support this chain.',
    tooFine: 'This token has at most {decimals} decimal places.',
  },
  createLocationRoom: {
    title: 'Location room',
    hint: 'For people near the place where you are now.',
    create: 'Create location room',
    radius: 'Radius in metres (50 to 50,000)',
    privacy:
      'The place is the position of your browser when you create the room, to about ten metres. Everyone can see it. Members state their own position, which nobody can verify. A place has one room; if it exists, it is opened.',
  },
})
