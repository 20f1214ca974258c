import { createHash } from 'node:crypto'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { deviceIn } from '#shared/kit/device'
import { type Passkey, Passkeys } from './model.ts'

export const passkeyNameOf = ({ display_name, user_agent }: Pick<Passkey, 'display_name' | 'user_agent'>): string =>
  display_name ?? deviceIn(user_agent) ?? 'Passkey'

/** The account id of a person with only this passkey. */
export const accountOfCredential = (credentialId: string): string =>
  `0x${createHash('sha256').update(Buffer.from(credentialId, 'base64url')).digest('hex').slice(0, 40)}`

export const passkeyOf = (credentialId: string): Promise<Passkey | null> =>
  Passkeys.findOne({ credential_id: credentialId }).lean<Passkey>()

/** Newest first. */
export const passkeysOf = (account: string): Promise<Passkey[]> =>
  Passkeys.find({ user_address: account }).sort({ created_at: -1, _id: -1 }).lean<Passkey[]>()

/** The passkey whose key signs for the smart account; it stays the first permanently. */
export const firstPasskeyOf = (account: string): Promise<Passkey | null> =>
  Passkeys.findOne({ first_of: account }).lean<Passkey>()

export const credentialIdsOf = async (account: string): Promise<string[]> =>
  (await passkeysOf(account)).map(({ credential_id }) => credential_id)

/** Of simultaneous first passkeys exactly one becomes the first. Of two with one credential id, one is stored. */
export async function storePasskey(passkey: Passkey): Promise<void> {
  try {
    await Passkeys.create({ ...passkey, first_of: passkey.user_address })
  } catch (error) {
    if (!isDuplicate(error)) throw error
    await Passkeys.create(passkey).catch((again: unknown) => {
      throw isDuplicate(again) ? new AppError('PASSKEY_ALREADY_REGISTERED') : again
    })
  }
}

/**
 * Records a use. The counter must increase, unless the authenticator does not count. Otherwise there is a copy of the
 * passkey, and the use is refused. Of two uses with one count, one succeeds.
 */
export async function recordUse({ _id, counter: before }: Passkey, counter: number, backedUp: boolean, now: number) {
  const isCounted = counter > 0 || before > 0
  const { matchedCount } = await Passkeys.updateOne(
    { _id, counter: isCounted ? { $lt: counter } : 0 },
    { $set: { counter, backed_up: backedUp, last_used_at: new Date(now) } },
  )
  return matchedCount === 1
}
