import type { Me } from '#client/sdk/types'

/** The account's rights to moderate a room. */
export interface Rights {
  canPin: boolean
  canDelete: boolean
  canMute: boolean
  canManage: boolean
  canSetTopic: boolean
  isModerator: boolean
  /** Owns or administers it, or the server. */
  isAdmin: boolean
}

export function rightsOf({ role, permissions }: Me): Rights {
  const has = (...names: string[]) => names.some((name) => permissions[name] === true)
  const isSiteAdmin = has('isAdmin', 'is_admin', 'isSuperAdmin')
  const canPin = isSiteAdmin || has('can_pin', 'canPin')
  const canDelete = isSiteAdmin || has('can_delete', 'canDelete')
  const canMute = isSiteAdmin || has('can_mute', 'canMute')
  const canManage = isSiteAdmin || has('can_manage_mods', 'canManageMods')
  const canSetTopic = role !== null && role !== 'member'
  const isModerator = canDelete || canMute || canManage
  const isAdmin = isModerator && (isSiteAdmin || role === 'owner' || role === 'admin')
  return { canPin, canDelete, canMute, canManage, canSetTopic, isModerator, isAdmin }
}
