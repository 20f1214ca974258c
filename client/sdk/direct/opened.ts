import type { Secrecy } from '../types.ts'
import { epochIn, type Inner, openFormerText } from './message.ts'

/** A message that was opened, or why it could not be. */
export type Opened = Secrecy & { inner: Inner | null }

/** Opens what an older client has sealed by a key that anybody can derive. */
export async function openFormer(dm: string, text: string): Promise<Opened> {
  const opened = await openFormerText(dm, text).catch(() => null)
  if (opened !== null) {
    const inner: Inner = { type: 'text', text: opened, client_msg_id: '' }
    return { state: 'clear', why: null, isSecret: false, epochId: null, inner }
  }
  const isLater = epochIn(text) !== null
  return { state: 'locked', why: isLater ? 'no key' : 'damaged', isSecret: isLater, epochId: null, inner: null }
}

/** Was it sealed by an older client? */
export const isFormer = (text: string): boolean => epochIn(text) === null
