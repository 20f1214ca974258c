import { Schema } from 'mongoose'
import { optional, required } from '#server/kernel/fields'
import { defineModel } from '#server/kernel/model'

export { type Passkey, Passkeys } from '#server/domains/people/accounts/model'

export type Ceremony = 'register' | 'login'

export interface PasskeyChallenge {
  /** The challenge itself, base64url. */
  _id: string
  ceremony: Ceremony
  /** The account it is for: the one a passkey is added to, or the one to be signed in; null for a new one, or for whoever comes. */
  user_address: string | null
  /** SHA-256 of the token that recovers the account. */
  recovery_hash: string | null
  user_handle: string
  display_name: string | null
  issued_at: Date
  used: boolean
  /** Kept beyond its life, so that a late use can be told apart from an unknown one. */
  expires_at: Date
}

export const PasskeyChallenges = defineModel<PasskeyChallenge>(
  'PasskeyChallenges',
  {
    shares: [{ owner: 'user_address', becomes: 'erase' }],
    archive: { never: 'It is a sign-in under way, for minutes.' },
  },
  new Schema<PasskeyChallenge>(
    {
      _id: required,
      ceremony: required,
      user_address: optional,
      recovery_hash: optional,
      user_handle: { type: String, default: '' },
      display_name: optional,
      issued_at: { type: Date, required: true },
      used: { type: Boolean, required: true },
      expires_at: { type: Date, required: true },
    },
    { collection: 'passkey_challenges', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)

export interface RecoveryToken {
  /** SHA-256 of the token; the token itself is nowhere. */
  _id: string
  user_address: string
  /** The address whose owner has agreed; the token is good while it is the account's. */
  email?: string
  /** Whether the owner of the account's e-mail has agreed. */
  confirmed: boolean
  used: boolean
  valid_until: Date
  expires_at: Date
}

/** What lets somebody who lost every passkey add a new one. */
export const RecoveryTokens = defineModel<RecoveryToken>(
  'RecoveryTokens',
  { shares: [{ owner: 'user_address', becomes: 'erase' }], archive: { never: 'It is a recovery under way.' } },
  new Schema<RecoveryToken>(
    {
      _id: required,
      user_address: required,
      email: { type: String },
      confirmed: { type: Boolean, required: true },
      used: { type: Boolean, required: true },
      valid_until: { type: Date, required: true },
      expires_at: { type: Date, required: true },
    },
    { collection: 'recovery_tokens', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
