import { textCatalog } from './catalog.ts'

export const deleteAccountTexts = textCatalog('delete-account', {
  title: 'Delete account',
  kept: 'This account was about to be deleted. You kept it by signing in on {time}.',
  hint: 'Removes your account and everything that is yours. Download your data first.',
  begun: 'Your account will be deleted on {time}. Sign in before then to keep it.',
  /** What happens to what the account has. */
  counts: {
    rooms:
      '{count, plural, one {# room} other {# rooms}}: a moderator or member becomes the owner, or the room is archived.',
    agents: '{count, plural, one {# agent} other {# agents}}: deleted.',
    streams: '{count, plural, one {# livestream} other {# livestreams}}: ended and deleted, with all recordings.',
    calls:
      '{count, plural, one {# upcoming call} other {# upcoming calls}}: cancelled, with an email to the other person.',
    webhooks: '{count, plural, one {# webhook} other {# webhooks}}: deleted.',
    payments: '{count, plural, one {# payment} other {# payments}}: kept without your name, as tax law asks.',
  },
  others: 'Your profile, friends, files, devices and settings: deleted.',
  grace:
    'You are signed out at once. For {days, plural, one {# day} other {# days}} you can sign in to keep the account.',
  atOnce: 'This happens at once, and cannot be undone.',
  messages: 'Your messages',
  unlink: 'Keep them for others, as by “Deleted user”',
  erase: 'Delete them everywhere',
  confirm: 'Type {name} to confirm',
})
