import type { AuthMethod } from '#shared/api/identity'

export const wayTitles: Readonly<Record<AuthMethod | 'phone', string>> = {
  wallet: 'Ethereum wallet',
  solana: 'Solana wallet',
  passkey: 'Passkey',
  email: 'E-mail',
  phone: 'Phone number',
  worldid: 'Proof of human',
  alien: 'Partner account',
}
