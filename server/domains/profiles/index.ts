import { accountOf } from '#server/domains/accounts/accounts'
import { namesFiles } from '#server/domains/files/namers'
import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { profiles as contract } from '#shared/api/profiles'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import type { ProfilePage } from './model.ts'
import { pageOf, shownOnPages } from './pages.ts'
import { drawnTheme, dress, themeRecord } from './theme.ts'

export const profiles = defineDomain(
  contract,
  {
    async theme({ address }, context) {
      const whose = address ?? context.caller.account
      if (whose === null) throw new AppError('VALIDATION_ERROR', { message: 'address is required' })
      const page = await seenBy(context, whose)
      return { ...drawnTheme(page?.theme), theme: themeRecord(whose, page?.theme) }
    },

    async dress({ address: _, ...given }, context) {
      const { account } = signedIn(context)
      const stored = await dress(context.node, account, given)
      return { ...done, ...drawnTheme(stored), theme: themeRecord(account, stored) }
    },
  },
  {
    start(node) {
      namesFiles(node, 'profiles', shownOnPages)
      return []
    },
  },
)

/** What an account shows to whoever asks. While it is suspended, nobody else is shown anything of it. */
async function seenBy({ caller }: Context, whose: string): Promise<ProfilePage | null> {
  const [page, account] = await Promise.all([pageOf(whose), whose === caller.account ? null : accountOf(whose)])
  return account?.is_banned ? null : page
}
