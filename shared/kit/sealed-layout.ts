import type { SealedBy } from './room-kinds.ts'

const vectorBytes = 12
const layout = <Version extends number>(version: Version, vectorAt: number) => ({
  version,
  vectorAt,
  cipherAt: vectorAt + vectorBytes,
})

/** Of version 1, which names the epoch whose key it is sealed by. */
export const epochAt = 1
export const tagBytes = 16
/** Where the parts of a sealed message begin, after the byte that names its version. */
export const layouts = {
  epoch: layout(1, epochAt + 16),
  'shared-key': layout(2, 1),
} as const satisfies Record<SealedBy, object>
