import { useRef } from 'react'
import type { GivenTheme } from '#shared/api/people/profile-theme'
import type { GivenWidget, Widget } from '#shared/api/people/profile-widgets'
import { useClient } from '../connection/client.ts'
import { useLoaded } from '../kit/use-loaded.ts'

type Changes = Partial<Pick<Widget, 'size' | 'config' | 'is_visible'>>

/** The profile of the account. Each change is shown at once and saved after those before it; one that fails rejects, and what is stored is shown again. */
export function useOwnPage() {
  const client = useClient()
  const loaded = useLoaded('own', () => client.profiles.widgets({}))
  const { change: changeLocally, reload } = loaded
  const turn = useRef<Promise<unknown>>(Promise.resolve())

  const inTurn = <Answer>(save: () => Promise<Answer>): Promise<Answer> => {
    const saved = turn.current.then(save)
    turn.current = saved.catch(reload)
    return saved
  }
  const showWidgets = (next: (widgets: readonly Widget[]) => readonly Widget[]) =>
    changeLocally((page) => ({ ...page, widgets: [...next(page.widgets)] }))

  return {
    ...loaded,
    add: (given: GivenWidget) =>
      inTurn(async () => {
        const { widget } = await client.profiles.arrange(given)
        if (widget) showWidgets((widgets) => [...widgets, widget])
        return widget
      }),
    /** Rejects with what is wrong, and changes nothing before it is saved. */
    configure: (id: string, changes: Changes) =>
      inTurn(async () => {
        await client.profiles.rearrange({ widgets: [{ id, ...changes }] })
        showWidgets((widgets) => widgets.map((widget) => (widget.id === id ? { ...widget, ...changes } : widget)))
      }),
    /** Puts all widgets in the order of these ids. */
    order(ids: readonly string[]) {
      showWidgets((widgets) => ids.flatMap((id) => widgets.find((widget) => widget.id === id) ?? []))
      return inTurn(() => client.profiles.rearrange({ widgets: ids.map((id, position) => ({ id, position })) }))
    },
    remove: (id: string) =>
      inTurn(async () => {
        await client.profiles.removeWidget({ id })
        showWidgets((widgets) => widgets.filter((widget) => widget.id !== id))
      }),
    dress: (given: GivenTheme) =>
      inTurn(async () => {
        const { theme } = await client.profiles.dress(given)
        changeLocally((page) => ({ ...page, theme }))
      }),
  }
}
export type OwnPage = ReturnType<typeof useOwnPage>
