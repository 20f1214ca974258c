import { textCatalog } from './catalog.ts'

/** Errors of what is outside of the page, loaded with the parts that ask it. */
export const outerProblemTexts = textCatalog('outer-problems', {
  /** By the errors of the WebAuthn API. */
  devices: {
    NotAllowedError: 'Your device did not respond, or you closed its window. Nothing was changed.',
    AbortError: 'Your device did not respond, or you closed its window. Nothing was changed.',
    InvalidStateError: 'This device already has a passkey for this account.',
    NotSupportedError: 'This device does not support such passkeys.',
    SecurityError: 'Passkeys do not work at this address of the site.',
  },
  wallets: {
    declined: 'The wallet declined the request. Nothing was signed.',
    notAllowed: 'Your wallet blocks this site. Allow it there, then try again.',
    unsupported: 'This wallet cannot sign messages.',
    disconnected: 'Your wallet is not connected. Open it, then try again.',
    pending: 'Your wallet has an open request. Answer it there, then try again.',
    failed: 'The wallet could not sign. Unlock it, then try again.',
  },
})
