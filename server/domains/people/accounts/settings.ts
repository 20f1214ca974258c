import { commaList, defineSettings } from '#server/kernel/settings'
import { canonicalAddress } from '#shared/kit/primitives'

/** The id of a wallet or passkey, a base58 address, or another kind, which has a colon. */
const isAccount = (id: string) => /^(0x[\da-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44}|[a-z]+:[\w.:-]+)$/.test(id)
const accounts = commaList
  .transform((ids) => ids.map(canonicalAddress))
  .refine((ids) => ids.every(isAccount), { error: 'must be accounts separated by commas, such as 0x and 40 digits' })

/** Accounts with a role from the first start. */
export const roleSettings = defineSettings({ ADMINS: accounts, SUPER_ADMINS: accounts }, (given) => ({
  admins: given.ADMINS,
  superAdmins: given.SUPER_ADMINS,
}))
