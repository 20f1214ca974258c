import { defineSettings, list } from '#server/kernel/settings'
import { canonicalAddress } from '#shared/kit/primitives'

const accounts = list.transform((ids) => ids.map(canonicalAddress))

/** The accounts that have a role from the first start on. */
export const roleSettings = defineSettings({ ADMINS: accounts, SUPER_ADMINS: accounts }, (given) => ({
  admins: given.ADMINS,
  superAdmins: given.SUPER_ADMINS,
}))
