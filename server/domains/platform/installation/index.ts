import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { installation as contract, settingKeys } from '#shared/api/platform/installation'
import { done } from '#shared/kit/primitives'
import { changeInstallationSetting, installationSettings } from './stored-settings.ts'

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
