import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Address, CallerAddress, Done, Id, onceByKey, repeatable } from '#shared/kit/primitives'
import { profileBoard } from './profile-board.ts'
import { GivenTheme, NamedTheme, ThemeRecord, themeFields } from './profile-theme.ts'
import { ChangedWidget, NewWidget, typeFields, Widget, widgetFields, widgetsAtMost } from './profile-widgets.ts'

const Page = z.object({ widgets: z.array(Widget), theme: ThemeRecord.nullable() })

export const profiles = {
  ...profileBoard,
  theme: operation({
    summary:
      "How somebody's profile is dressed: the theme they have saved or null, and beside it what is drawn, with the defaults.",
    http: 'GET /api/profile/theme',
    socket: '/notifications profile:theme',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ address: Address.optional() }),
    output: NamedTheme.extend({ theme: ThemeRecord.nullable() }),
  }),
  dress: operation({
    summary:
      "Change the theme of the caller's profile. What is left out stays; null clears a field that may be absent.",
    http: 'POST /api/profile/theme',
    aliases: [{ http: 'PUT /api/profile/theme' }],
    socket: '/notifications profile:dress',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    input: z.object({ ...themeFields, address: CallerAddress }),
    output: NamedTheme.extend({ success: z.literal(true), theme: ThemeRecord }),
  }),
  widgets: operation({
    summary:
      "The widgets of somebody's profile by their position, with its theme: of the caller all, of whoever is named those that are visible.",
    http: 'GET /api/profile/widgets',
    socket: '/notifications profile:widgets',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ address: Address.optional() }),
    output: Page,
  }),
  arrange: operation({
    summary:
      "With `widgets`, these take the place of all widgets of the caller's profile, whole or not at all, and `theme` changes its theme; without, one widget is added.",
    http: 'POST /api/profile/widgets',
    socket: '/notifications profile:arrange',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    errorBody: 'text',
    input: z.object({
      ...repeatable,
      address: CallerAddress,
      widgets: z.array(NewWidget).max(widgetsAtMost, `At most ${widgetsAtMost} widgets`).optional(),
      theme: GivenTheme.nullish(),
      ...typeFields,
      ...widgetFields,
    }),
    output: Page.partial().extend({ success: z.literal(true), widget: Widget.optional() }),
  }),
  rearrange: operation({
    summary:
      "Change widgets of the caller's profile, by their ids. What is left out stays; ids that are not the caller's are passed over.",
    http: 'PUT /api/profile/widgets',
    socket: '/notifications profile:rearrange',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({
      address: CallerAddress,
      widgets: z.array(ChangedWidget, 'widgets is required').max(widgetsAtMost),
    }),
    output: Done,
  }),
  removeWidget: operation({
    summary: "Take a widget off the caller's profile; one that is not there is off it already.",
    http: 'DELETE /api/profile/widgets',
    socket: '/notifications profile:remove-widget',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'withdraws',
    input: z.object({ address: CallerAddress, id: Id }),
    output: Done,
  }),
}
