import type { AuthMethod } from '#shared/api/identity'

export const wayTitles: Readonly<Record<AuthMethod, string>> = {
  wallet: 'Ethereum wallet',
  solana: 'Solana wallet',
  passkey: 'Passkey',
  email: 'E-mail',
  worldid: 'Proof of human',
  alien: 'Partner account',
}
