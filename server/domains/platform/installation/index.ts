import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import {
  installation as contract,
  type Setting,
  type SettingKey,
  type SettingValue,
  settingKeys,
  settingTypes,
} from '#shared/api/platform/installation'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { InstallationSettings, type StoredSetting } from './model.ts'

/** A current setting, read from the store each time, so that a change applies on all nodes at once. */
export async function installationSetting<Key extends SettingKey>(key: Key): Promise<SettingValue<Key>> {
  return valueIn(key, await InstallationSettings.findOne({ _id: key }).lean<StoredSetting>())
}

/** The stored value, or the default if it is missing or of another version. */
function valueIn<Key extends SettingKey>(key: Key, stored: StoredSetting | null | undefined): SettingValue<Key> {
  const { value, usual } = settingTypes[key]
  const read = value.safeParse(stored?.value)
  return (read.success ? read.data : usual) as SettingValue<Key>
}

/** Settings, each with the account that changed it. */
async function installationSettings(keys: readonly SettingKey[]): Promise<Setting[]> {
  const found = await InstallationSettings.find({ _id: { $in: [...keys] } }).lean<StoredSetting[]>()
  const stored = new Map(found.map((one) => [one._id, one]))
  return keys.map((key) => renderSetting(key, stored.get(key)))
}

async function changeInstallationSetting(
  key: SettingKey,
  given: Setting['value'],
  by: string,
  at: number,
): Promise<Setting> {
  const { data: value, error } = settingTypes[key].value.safeParse(given)
  if (value === undefined)
    throw new AppError('VALIDATION_ERROR', {
      message: `value: ${error?.issues[0]?.message}`,
      details: { path: 'value' },
    })
  const fields = { value, updated_by: by, updated_at: new Date(at) }
  await InstallationSettings.updateOne({ _id: key }, { $set: fields }, { upsert: true })
  return renderSetting(key, { _id: key, ...fields })
}

const renderSetting = (key: SettingKey, stored: StoredSetting | undefined): Setting => ({
  key,
  value: valueIn(key, stored),
  updated_by: stored?.updated_by ?? null,
  updated_at: stored?.updated_at.toISOString() ?? null,
})

export const installation = defineDomain(contract, {
  async settings({ key }) {
    const settings = await installationSettings(key ? [key] : settingKeys)
    return { settings, ...(key ? { value: settings[0]?.value ?? null } : {}) }
  },

  async changeSetting({ key, value }, context) {
    return {
      ...done,
      setting: await changeInstallationSetting(key, value, signedIn(context).account, context.node.now()),
    }
  },
})
