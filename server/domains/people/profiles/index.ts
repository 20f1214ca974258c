import { accountOf } from '#server/domains/people/accounts/accounts'
import { isFound } from '#server/domains/people/accounts/found'
import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { profiles as contract } from '#shared/api/people/profiles'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import { boardActions, forgetBoard } from './board.ts'
import type { ProfilePage } from './model.ts'
import { changePage, filesShownOnPages, type PageContent, pageOf } from './pages.ts'
import { namedTheme, saveTheme, themeRecord, withTheme } from './theme.ts'
import { widgetsOf, withAddedWidget, withChangedWidgets, withoutWidget, withReplacedWidgets } from './widgets.ts'

export const profiles = defineDomain(
  contract,
  {
    async theme({ address }, context) {
      const whose = address ?? context.caller.account
      if (whose === null) throw new AppError('VALIDATION_ERROR', { message: 'address is required' })
      const page = await pageSeenBy(context, whose)
      return { ...namedTheme(page?.theme), theme: themeRecord(whose, page?.theme) }
    },

    async dress({ address: _, ...given }, context) {
      const { account } = signedIn(context)
      const stored = await saveTheme(context, account, given)
      return { ...done, ...namedTheme(stored), theme: themeRecord(account, stored) }
    },

    async widgets({ address }, context) {
      const whose = address ?? signedIn(context).account
      const page = await pageSeenBy(context, whose)
      const widgets = widgetsOf(page, whose)
      return {
        widgets: address === undefined ? widgets : widgets.filter(({ is_visible }) => is_visible),
        theme: themeRecord(whose, page?.theme),
      }
    },

    async arrange({ address: _, widgets: set, theme, ...given }, context) {
      const { node } = context
      const { account } = signedIn(context)
      if (!set) {
        const page = await changePage(node, account, (before) => withAddedWidget(node, account, before, given))
        const widget = page.widgets?.at(-1)
        return { ...done, widget: widget && widgetsOf({ widgets: [widget] }, account)[0] }
      }
      const page = await changePage(node, account, async (before) => {
        const after = await withReplacedWidgets(node, account, before, set)
        return theme ? withTheme(context, account, after, theme) : after
      })
      await forgetBoard(account, idsIn(page))
      return { ...done, widgets: widgetsOf(page, account), theme: themeRecord(account, page.theme) }
    },

    async rearrange({ widgets }, context) {
      const { account } = signedIn(context)
      await changePage(context.node, account, (before) => withChangedWidgets(context.node, account, before, widgets))
      return done
    },

    async removeWidget({ id }, context) {
      const { account } = signedIn(context)
      const page = await changePage(context.node, account, (before) => withoutWidget(before, id))
      await forgetBoard(account, idsIn(page))
      return done
    },

    ...boardActions,
  },
  { shows: filesShownOnPages },
)

const idsIn = ({ widgets = [] }: PageContent) => widgets.map(({ id }) => id)

/** The page of an account as the caller may see it. While it is suspended, others see nothing. */
async function pageSeenBy({ caller }: Context, whose: string): Promise<ProfilePage | null> {
  const [page, account] = await Promise.all([
    pageOf(whose),
    isSameAccount(whose, caller.account) ? null : accountOf(whose),
  ])
  return !account || isFound(account) ? page : null
}
