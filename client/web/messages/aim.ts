import type { LocalMessage } from '#client/sdk/types'

/** The message that the text being written answers or replaces. */
export type Aim = { kind: 'reply' | 'edit'; message: LocalMessage } | null
