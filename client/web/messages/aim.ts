import type { LocalMessage } from '#client/sdk/types'

/** The message that the text in the composer replies to or edits. */
export type Aim = { kind: 'reply' | 'edit'; message: LocalMessage } | null
