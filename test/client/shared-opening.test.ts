import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Opened } from '#client/sdk/direct/opened'
import { SharedKey } from '#client/sdk/direct/shared'
import { Shared } from '#client/sdk/directs'
import type { LocalMessage } from '#client/sdk/types'
import { AppError } from '#shared/errors'
import { sealedUnder } from '#test/support/shared-key'

const room = { type: 'channel', id: 'mill' } as const
const key = randomBytes(32)
const place = { room, sender: 'ada', client_msg_id: 'one' }
const message = {
  id: 'one',
  client_msg_id: 'one',
  sender_address: 'ada',
  content: sealedUnder(key, place, { text: 'at the mill' }),
  local: 'sent',
  is_deleted: false,
} as LocalMessage

/** What is shown of the message, each time that something is told. */
function shownIn(shared: Shared): string[] {
  const shown: string[] = []
  const look = () => {
    const { content, secrecy } = shared.read(message, () => undefined)
    const now = secrecy?.why ?? (content || (secrecy?.state ?? ''))
    if (shown.at(-1) !== now) shown.push(now)
  }
  shared.subscribe(look)
  look()
  return shown
}

test('a key that could not be asked for is asked for again; until then the message is being opened, and not locked', async () => {
  let asked = 0
  const call = async () => {
    if (++asked === 1) throw new AppError('SERVICE_UNAVAILABLE')
    return { p2p_symmetric_key: key.toString('base64') }
  }
  const shared: Shared = new Shared(room, async () => new SharedKey({ call, room, changed: () => shared.told() }))
  const shown = shownIn(shared)
  await expect.poll(() => shown).toEqual(['opening', 'at the mill'])
  expect(asked).toBe(2)
})

test('what a key of a membership that has ended opens late is not shown', async () => {
  const about = { isSecret: true, epochId: null }
  const locked: Opened = { ...about, state: 'locked', why: 'no member', inner: null }
  let openLate = () => {}
  const late = new Promise<Opened>((resolve) => {
    const inner = { text: 'at the mill', type: 'text' as const, client_msg_id: 'one' }
    openLate = () => resolve({ ...about, state: 'clear', why: null, inner })
  })
  const answers = [late, Promise.resolve(locked)]
  let opened = 0
  const sealer = { ready: async () => {}, open: () => answers[opened++] } as unknown as SharedKey
  const shared = new Shared(room, async () => sealer)
  const shown = shownIn(shared)
  await expect.poll(() => opened).toBe(1)
  shared.membershipChanged()
  await expect.poll(() => shown.at(-1)).toBe('no member')
  openLate()
  await late
  shared.told()
  await expect.poll(() => opened).toBe(3)
  expect(shown).toEqual(['opening', 'no member'])
})

test('an edit keeps by what the sender has committed to the media of a message', async () => {
  const drafts: object[] = []
  const seal = async (_place: object, draft: object) => {
    drafts.push(draft)
    return 'sealed'
  }
  const shared = new Shared(room, async () => ({ seal }) as unknown as SharedKey)
  const mediaSalt = 'ab'.repeat(32)
  const secrecy = { state: 'clear', why: null, isSecret: true, epochId: 'e', mediaSalt } as const
  await shared.edit({ ...message, message_type: 'text', secrecy } as LocalMessage, 'at the new mill', async () => {})
  expect(drafts).toMatchObject([{ text: 'at the new mill', mediaSalt, mediaEpoch: 'e' }])
})
