import { textCatalog } from './catalog.ts'

/** What a dialog says before an act: what follows from it. */
export const confirmationTexts = textCatalog('confirmations', {
  cancel: 'Cancel',
  actionOf: '{action} {name}',
  stream: 'Viewers see that the stream has ended. You can start a new one at any time.',
  signIn: 'You can no longer sign in with it.',
  deviceKey: 'New direct messages cannot be read on this device any more.',
  device: 'This device has to sign in again.',
  otherDevices: 'All other devices have to sign in again.',
  participant: 'They leave the meeting and cannot come back.',
  meeting: 'The meeting ends for everyone in it.',
  inviteLink: 'Nobody can join with this link any more.',
  webhookSecret: 'Both secrets are valid for 24 hours, then only the new one.',
  webhook: 'Events of this room are no longer sent to this URL.',
  friend: 'You are no longer friends. You can send a new request later.',
  agentOfRoom: 'The agent can no longer read this room or answer in it.',
  folder: 'The rooms in it stay in your list.',
  ban: 'They can no longer read or write in this room.',
  purge: 'Their messages in this room are deleted for everyone.',
  handOver: 'They manage this room from then on. Only they can give it back.',
  broadcast: 'Each of them gets a direct message, which cannot be recalled.',
  moderator: 'They lose their moderator rights in all rooms.',
  inviteCode: 'Nobody can sign up with this code any more.',
  suspend: 'They can read but not send until you lift the suspension.',
  makeAdmin: 'They can then manage the people and rooms of this server.',
  removeAdmin: 'They lose all rights of an administrator.',
})
