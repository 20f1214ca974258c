import { deletedName } from '#shared/kit/person-name'
import { simpleCatalog } from './simple-catalog.ts'

/** Texts of several folders, loaded with the first screen. */
export const kitTexts = simpleCatalog('kit', {
  close: 'Close',
  retry: 'Try again',
  deletedUser: deletedName,
  loading: 'Loading',
  reload: 'Reload',
  notLoaded: 'This part of the page could not be loaded.',
  tooMuch: 'Too many requests.',
  retrying: 'Retrying in {time}.',
  today: 'Today',
  yesterday: 'Yesterday',
  /** The parts of a duration, as in “1 h 5 min”. */
  units: {
    d: '{count} d',
    h: '{count} h',
    min: '{count} min',
    s: '{count} s',
  },
  connection: {
    connecting: 'Connecting',
    online: 'Live',
    offline: 'Offline',
    rest: 'Live, with delay',
    closed: 'Disconnected',
  },
  problems: {
    unknown: 'Something went wrong.',
    unreachable: 'The server cannot be reached at the moment.',
    tooMuch: 'Too many requests. Try again in {time}.',
  },
  codes: {
    SERVICE_UNAVAILABLE: 'The server cannot be reached at the moment.',
    INTERNAL_ERROR: 'Something went wrong on the server. Try again in a moment.',
    DATABASE_ERROR: 'Something went wrong on the server. Try again in a moment.',
    UNAUTHORIZED: 'Sign in to do this.',
    INVALID_SIGNATURE: 'The signature does not match this wallet. Try again.',
    NONCE_EXPIRED: 'The sign-in message has expired. Try again.',
    INVALID_NONCE: 'The sign-in message was already used. Try again.',
    INVALID_CODE: 'This code is wrong. Check it and try again.',
    PASSKEY_NOT_FOUND: 'This passkey is unknown here. Use another one, or create an account.',
    UPSTREAM_ERROR: 'A service that this needs returned an error. Try again later.',
    TIMEOUT: 'A service that this needs did not respond. Try again later.',
  },
})
