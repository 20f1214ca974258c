import { textCatalog } from './catalog.ts'

/** Calls that were booked, and the page where others book them. */
export const bookedCallTexts = textCatalog('booked-calls', {
  title: 'Calls',
  pages: {
    current: 'To come',
    past: 'Past and cancelled',
  },
  none: 'There are none.',
  minutes: '{count} min',
  isCancelled: 'cancelled',
  paid: {
    pending: 'being paid for',
    paid: 'paid',
    refunded: 'refunded',
  },
  cancelled: {
    kept: 'Cancelled. What was paid is not given back from here.',
    withdrawn: 'Cancelled. Nothing was charged.',
    unknown: 'Cancelled. Whether it was charged is not known yet.',
  },
  unbooked:
    'not booked, and may be charged until {time}. What was charged is good for another time: book it in this browser',
  reason: 'Reason: {reason}',
  open: 'Open',
  openOne: 'Open: {time}',
  copyLink: 'Copy link',
  copyLinkOne: 'Copy link: {time}',
  copied: 'Copied',
  cancel: 'Cancel',
  cancelOne: 'Cancel: {time}',
  cancelPaid: 'Cancel without refund',
  dialog: {
    title: 'Cancel this call?',
    text: 'The call on <b>{time}</b> will not take place, and its time is free again.',
    paid: 'What was paid is not given back from here.',
    reason: 'Reason (optional)',
    keep: 'Keep the call',
    cancel: 'Cancel the call',
  },
  share: {
    title: 'Your page',
    on: 'Anybody may book a call with you',
    slug: 'Your own word in its address, if you like',
    slugHint: '3 to 30 lowercase letters, digits and hyphens',
    unpayable: 'Calls with a price cannot be booked: nothing here carries out payments of their network.',
    copy: 'Copy',
    copyAddress: 'Copy the address of your page',
    save: 'Save',
    saved: 'Saved.',
  },
  problems: {
    EMAIL_NOT_VERIFIED: 'Add an e-mail address under “Sign-in & security” first: letters about calls go there.',
    SLUG_TAKEN: 'This address is taken. Choose another.',
  },
})
