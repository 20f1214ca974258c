import type { KeptKeys } from '#shared/api/people/messaging-keys'
import { MessagingKeys, type StoredKeys } from './model.ts'

type GivenKeys = { readonly [Field in keyof KeptKeys]?: KeptKeys[Field] | null | undefined }

export const messagingKeysOf = async (account: string): Promise<KeptKeys> =>
  keysOutput(await MessagingKeys.findOne({ _id: account }).lean<StoredKeys>())

/** Stores the given fields; others stay. */
export async function storeKeys(account: string, given: GivenKeys, now: number): Promise<KeptKeys> {
  const fields = Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => [field, value || null] as const)
  const stored = await MessagingKeys.findOneAndUpdate(
    { _id: account },
    { $set: { ...Object.fromEntries(fields), updated_at: new Date(now) } },
    { upsert: true, returnDocument: 'after' },
  ).lean<StoredKeys>()
  return keysOutput(stored)
}

const keysOutput = (stored: StoredKeys | null): KeptKeys => ({
  messaging_public_key: stored?.messaging_public_key ?? null,
  messaging_private_key_encrypted: stored?.messaging_private_key_encrypted ?? null,
  messaging_backup_encrypted: stored?.messaging_backup_encrypted ?? null,
  messaging_backup_salt: stored?.messaging_backup_salt ?? null,
  messaging_backup_enabled: stored?.messaging_backup_enabled ?? false,
})
