import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'

const keyOf = (account: string, ref: RoomRef) => `plaza.draft.${account}.${roomKey(ref)}`

/** The key under which a question to an agent is kept until it is asked. */
export const agentDraftOf = (account: string, id: string) => `plaza.draft.${account}.agent:${id}`

/** The key under which what is changed of an agent is kept until it is saved; without an id, of a new one. */
export const agentFormOf = (account: string, id = '') => `plaza.form.${account}.agent:${id}`

/** The key under which the edited text of a message is kept while another room is open. */
export const editOf = (account: string, id: string) => `plaza.edit.${account}.${id}`
export const readText = (key: string): string | null => localStorage.getItem(key)
export const keepText = (key: string, text: string | null): void =>
  text ? localStorage.setItem(key, text) : localStorage.removeItem(key)

export const readDraft = (account: string, ref: RoomRef): string => readText(keyOf(account, ref)) ?? ''

export const keepDraft = (account: string, ref: RoomRef, text: string): void => keepText(keyOf(account, ref), text)
