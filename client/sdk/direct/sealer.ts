import type { ConversationKey, Draft } from '../types.ts'
import type { Place } from './message.ts'
import type { Opened } from './opened.ts'

type In = Omit<Place, 'dm'>

/** What seals the messages of one room, and opens them. */
export interface Sealer {
  ready(): Promise<unknown>
  refresh(devicesToo: boolean): Promise<void>
  /** The text of a message, as the server takes it. */
  seal(place: In, draft: Draft): Promise<string>
  open(place: In, text: string): Promise<Opened>
  /** Was this told because the message must be sealed anew? */
  isStale(error: unknown): Promise<boolean>
  /** The key for what is sent now. */
  sendingKey(): Promise<ConversationKey>
  keyOf(epochId: string): Promise<ConversationKey>
}
