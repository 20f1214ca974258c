import type { DirectState, Secrecy } from '#client/sdk/types'
import { directTexts as t } from '../texts/direct.ts'

/** What is shown in place of a message that is not opened. */
export const lockedText = ({ state, why }: Secrecy): string =>
  state === 'opening' ? t.opening : t.locked[why ?? 'damaged']

/** How a conversation is sealed, in a few words. */
export function sealedText({ state, devices }: DirectState): string {
  if (state === 'opening') return t.opening
  if (state === 'unavailable') return t.badge.unavailable
  if (state === 'stopped') return t.badge.stopped
  const isVerified = devices.every(({ isVouched, state }) => isVouched || state === 'left out')
  return isVerified ? t.badge.verified : t.badge.unverified
}
