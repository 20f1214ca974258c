import type { DirectState, Secrecy } from '#client/sdk/types'
import type { ClearType } from '#shared/kit/clear-types'
import type { SealedBy } from '#shared/kit/room-kinds'

/** What stands under a message of an older version of the page. */
export const neverSecret = {
  epoch: 'Not secret: sent before direct messages were end-to-end encrypted.',
  'shared-key': 'Stored in clear: sent before the messages of this room were sealed.',
} as const satisfies Record<SealedBy, string>

/** What stands under a direct message that many have, each one of their own. */
export const toldInClear = {
  system: 'Not secret: told to many people at once.',
  welcome: 'Not secret: told to everybody who is new here.',
} as const satisfies Record<ClearType, string>

/** What stands over the conversation in which Plaza tells somebody something, and nobody answers. */
export const toldText = 'Not secret: what Plaza tells everybody'

/** How a room with a shared key is sealed. */
export const sharedKeyText = 'Encrypted at rest; the operator holds the key'

const whys: Record<NonNullable<Secrecy['why']>, string> = {
  'no key':
    'This message cannot be opened: its key was not given to this device. It opens once a device that has the key is online and has accepted this one.',
  untrusted: 'This message cannot be opened: its key comes from a new device that waits for you to accept it.',
  damaged: 'This message cannot be opened: it is damaged, or was changed on its way.',
  malformed: 'This message cannot be read: what its sender has sealed is no message of Plaza.',
  'no storage': 'This message cannot be opened: this browser keeps no keys.',
  'no member': 'This message cannot be opened: its key is told to the members of this room alone.',
}

export const lockedText = ({ state, why }: Secrecy): string =>
  state === 'opening' ? 'Opening' : whys[why ?? 'damaged']

/** How a conversation is sealed, in a word. */
export function sealedText({ state, devices }: DirectState): string {
  if (state === 'opening') return 'Opening'
  if (state === 'unavailable') return 'Messages cannot be opened here'
  if (state === 'stopped') return 'New devices: look at them'
  const isVerified = devices.every(({ isVouched, state }) => isVouched || state === 'left out')
  return isVerified ? 'End-to-end encrypted' : 'End-to-end encrypted, not verified'
}
