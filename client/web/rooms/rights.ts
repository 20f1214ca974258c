import type { Me } from '#client/sdk/types'

/** The account's rights to moderate a room. */
export interface Rights {
  canPin: boolean
  canDelete: boolean
  canMute: boolean
  canManage: boolean
  canSetTopic: boolean
  isModerator: boolean
}

export function rightsOf({ role, permissions }: Me): Rights {
  const has = (...names: string[]) => names.some((name) => permissions[name] === true)
  const isAdmin = has('isAdmin', 'is_admin', 'isSuperAdmin')
  const canPin = isAdmin || has('can_pin', 'canPin')
  const canDelete = isAdmin || has('can_delete', 'canDelete')
  const canMute = isAdmin || has('can_mute', 'canMute')
  const canManage = isAdmin || has('can_manage_mods', 'canManageMods')
  const canSetTopic = role !== null && role !== 'member'
  return { canPin, canDelete, canMute, canManage, canSetTopic, isModerator: canDelete || canMute || canManage }
}
