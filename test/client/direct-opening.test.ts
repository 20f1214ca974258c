import { expect, test } from 'vitest'
import type { Conversation } from '#client/sdk/direct/conversation'
import type { Opened } from '#client/sdk/direct/opened'
import { Direct } from '#client/sdk/directs'
import type { LocalMessage } from '#client/sdk/types'

/** Of version 1, by its first byte. */
const sealed = (id: string) => Buffer.alloc(100, id).fill(1, 0, 1).toString('base64')
const messageOf = (id: string) =>
  ({ id, client_msg_id: id, sender_address: 'ada', content: sealed(id), local: 'sent', is_deleted: false }) as never

test('a message that a new key opens is opened, even where another one is opened in the same moment', async () => {
  const keys = new Set<string>()
  const waiting = new Map<string, () => void>()
  const open = async ({ client_msg_id: id }: { client_msg_id: string }): Promise<Opened> => {
    if (id === 'slow') await new Promise<void>((resolve) => waiting.set(id, resolve))
    const about = { isSecret: true, epochId: 'e' }
    if (!keys.has(id)) return { ...about, state: 'locked', why: 'no key', inner: null }
    return { ...about, state: 'open', why: null, inner: { text: id, type: 'text' } } as never
  }
  const conversation = { state: { state: 'ready' }, open } as unknown as Conversation
  const direct = new Direct({ type: 'dm', id: 'ada' }, async () => conversation)
  const shown = new Map<string, LocalMessage>()
  const read = (...ids: string[]) => {
    for (const id of ids)
      shown.set(
        id,
        direct.read(messageOf(id), () => undefined),
      )
  }
  direct.subscribe(() => read('first', 'slow'))
  read('first', 'slow')
  await expect.poll(() => [shown.get('first')?.secrecy?.state, waiting.size]).toEqual(['locked', 1])

  keys.add('first').add('slow')
  direct.told()
  waiting.get('slow')?.()
  await expect.poll(() => shown.get('first')?.content).toBe('first')
})
