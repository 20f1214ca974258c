import { Schema } from 'mongoose'
import { optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

export { type Passkey, Passkeys } from '#server/domains/people/accounts/model'

export type Ceremony = 'register' | 'login'

export interface PasskeyChallenge {
  /** The challenge, base64url. */
  _id: string
  ceremony: Ceremony
  /** The account to which a passkey is added, or that signs in; null for a new or any account. */
  user_address: string | null
  /** SHA-256 of the recovery token of the account. */
  recovery_hash: string | null
  user_handle: string
  display_name: string | null
  issued_at: Date
  used: boolean
  /** Kept after its expiry, to distinguish a late use from an unknown challenge. */
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
  /** SHA-256 of the token, which is not stored. */
  _id: string
  user_address: string
  /** The address whose owner has agreed; the token is valid while the account has it. */
  email?: string
  /** Has the owner of the account's email agreed? */
  confirmed: boolean
  used: boolean
  valid_until: Date
  expires_at: Date
}

/** A token that adds a new passkey to an account that lost all of them. */
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
