import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Address, CallerAddress } from '#shared/kit/primitives'
import { ProfileTheme, ThemeRecord, themeFields } from './profile-theme.ts'

export const profiles = {
  theme: operation({
    summary:
      "How somebody's profile is dressed: the theme they have saved or null, and beside it what is drawn, with the defaults.",
    http: 'GET /api/profile/theme',
    socket: '/notifications profile:theme',
    access: 'public',
    limit: 'general',
    errorBody: 'text',
    input: z.object({ address: Address.optional() }),
    output: ProfileTheme.extend({ theme: ThemeRecord.nullable() }),
  }),
  dress: operation({
    summary:
      "Change the theme of the caller's profile. What is left out stays; null clears a field that may be absent.",
    http: 'POST /api/profile/theme',
    aliases: [{ http: 'PUT /api/profile/theme' }],
    socket: '/notifications profile:dress',
    access: 'user',
    limit: 'general',
    repeat: 'harmless',
    errorBody: 'text',
    input: z.object({ ...themeFields, address: CallerAddress }),
    output: ProfileTheme.extend({ success: z.literal(true), theme: ThemeRecord }),
  }),
}
