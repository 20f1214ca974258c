import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { clearable, maybe, nameLine, Time } from '#shared/kit/primitives'

/** What admins decide of an installation while it runs: the type of each, and what holds until somebody has decided. */
export const settingTypes = {
  /** Whether who has no account yet gets one by signing in. */
  registration_open: { value: z.boolean({ error: 'registration_open is true or false' }), usual: true },
  /** Whether files are taken, of anybody. */
  uploads_allowed: { value: z.boolean({ error: 'uploads_allowed is true or false' }), usual: true },
  /** What the page shows everybody above everything else, as that there is maintenance at nine; null is nothing. */
  notice: { value: clearable(nameLine(1, 300)), usual: null },
} as const
export type SettingKey = keyof typeof settingTypes
export type SettingValue<Key extends SettingKey = SettingKey> = z.output<(typeof settingTypes)[Key]['value']>

export const settingKeys = Object.keys(settingTypes) as [SettingKey, ...SettingKey[]]
const Key = z.enum(settingKeys, { error: `key: one of ${settingKeys.join(', ')}` })

const Setting = z.object({
  key: Key,
  value: z.union([z.boolean(), z.string()]).nullable(),
  /** The admin who set it, and the time; null by default. */
  updated_by: z.string().nullable(),
  updated_at: Time.nullable(),
})
export type Setting = z.infer<typeof Setting>

export const installation = {
  settings: operation({
    summary: `What admins have decided of this installation, as it holds now: ${settingKeys.map((key) => `\`${key}\``).join(', ')}, or the one that is asked for, whose \`value\` is answered beside it.`,
    http: 'GET /api/admin/settings',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ key: maybe(Key) }),
    output: z.object({ settings: z.array(Setting), value: Setting.shape.value.optional() }),
  }),
  changeSetting: operation({
    summary:
      'Decides a setting of this installation, from the next request on and on every node. `registration_open` and `uploads_allowed` are true or false; `notice` is a line of at most 300 characters, or null.',
    http: 'PUT /api/admin/settings',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    audit: true,
    errorBody: 'text',
    input: z.object({ key: Key, value: z.union([z.boolean(), z.string().max(1_000)]).nullable() }),
    output: z.object({ success: z.literal(true), setting: Setting }),
  }),
}
