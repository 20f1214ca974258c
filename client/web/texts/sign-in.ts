import { textCatalog } from './catalog.ts'

/** The sign-in methods, each loaded when it is chosen. */
export const signInTexts = textCatalog('sign-in', {
  back: 'All sign-in options',
  recovery: 'Lost passkey',
  waiting: 'Waiting for your device…',
  sending: 'Sending…',
  checking: 'Checking…',
  sendCode: 'Send code',
  sendLink: 'Send a link instead',
  codeSent: 'We sent a code to <strong>{email}</strong>. It expires in 10 minutes.',
  linkSent: 'We sent a link to <strong>{email}</strong>. It expires in 15 minutes.',
  email: 'Email address',
  emailInvalid: 'Enter a complete email address.',
  code: '6-digit code',
  resend: 'Resend',
  resendIn: 'Resend in {time}',
  changeTo: {
    address: 'Change email address',
    number: 'Change phone number',
  },
  mailbox: {
    letters: 'This server does not send emails: find yours in its <mailbox>mailbox</mailbox>.',
    texts: 'This server does not send text messages: find yours in its <mailbox>mailbox</mailbox>.',
  },
  passkey: {
    hint: 'A passkey is stored on your device or in your password manager. You unlock it with your fingerprint, face or PIN.',
    use: 'Use a passkey',
    create: 'Create account',
    lost: 'Lost your passkey?',
    recovered: 'Your account is confirmed. Create a new passkey for it; the old ones keep working.',
    createNew: 'Create new passkey',
    codeSent: 'If <strong>{email}</strong> belongs to an account, we sent a code to it.',
    recover: 'Enter the verified email address of your account. We send a code that lets you create a new passkey.',
    rescue: 'This passkey was removed, but its account still exists. Its email address looks like {email}.',
  },
  wallet: {
    hint: 'Your wallet asks you to sign a message that names this site. It moves no funds and costs nothing.',
    waiting: 'Waiting for your wallet…',
    none: 'No wallet in this browser',
    noneHint: 'Install a wallet extension, or open this page in the browser of your wallet app. Then try again.',
    injected: 'Browser wallet',
    solana: 'Solana wallet',
    noAccount: 'The wallet returned no account. Unlock it and choose an account.',
    unknownChain: 'The wallet does not know this network. Add it there, then try again.',
  },
  human: {
    hint: 'In the provider’s app, create a proof for the signal below. Then paste the proof here.',
    signal: 'Signal',
    action: 'Action',
    valid: 'Valid for one proof within {time}.',
    expired: 'This signal has expired.',
    renew: 'Show another',
    proof: 'Proof (JSON)',
    notJson: 'This is not a proof. It must be JSON with merkle_root, nullifier_hash and proof.',
  },
  humanProblems: {
    INVALID_SIGNATURE: 'This proof is invalid or was already used. Create a new one for the signal above.',
    INVALID_NONCE: 'This proof was made for another signal. Create a new one for the signal above.',
    NONCE_EXPIRED: 'The signal of this proof has expired. Create a new proof for the signal above.',
    VALIDATION_ERROR: 'This proof is incomplete. Copy all of it and paste it again.',
    UPSTREAM_ERROR: 'The proof service returned an error. Try again later.',
    TIMEOUT: 'The proof service did not respond. Try again later.',
  },
  partner: {
    hint: 'Paste the token from our partner. It signs you in to the account it names.',
    token: 'Token',
  },
  partnerProblems: {
    INVALID_SIGNATURE: 'The partner did not sign this token. Copy all of it and paste it again.',
    UNAUTHORIZED: 'This token has expired or names no account. Ask the partner for a new one.',
    VALIDATION_ERROR: 'This token is incomplete. Copy all of it and paste it again.',
    UPSTREAM_ERROR: 'The keys of the partner cannot be loaded. Try again later.',
    TIMEOUT: 'The partner did not respond. Try again later.',
  },
  signIn: 'Sign in',
  methods: {
    wallet: 'Ethereum wallet',
    solana: 'Solana wallet',
    passkey: 'Passkey',
    email: 'Email',
    phone: 'Phone number',
    worldid: 'Proof of human',
    alien: 'Partner account',
    service: 'Service token',
  },
  methodAdded: 'A sign-in method was added: {method}. If this wasn’t you, go to Settings > Devices.',
  methodRemoved: 'A sign-in method was removed: {method}. If this wasn’t you, go to Settings > Devices.',
  confirm: {
    title: 'Confirm it’s you',
    hint: 'For your safety, sign in again with any of your methods to continue.',
  },
})

/** Errors of passkeys and wallets. */
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
