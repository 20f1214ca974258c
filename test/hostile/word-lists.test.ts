// Modes: embedded
import { expect, test } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import { channelOf, over } from '#test/support/people'
import { ceilingMilliseconds } from '#test/support/served'
import { storeFileOn } from '#test/support/stored-files'
import { times } from '#test/support/times'

const { owner, innocent, server } = await bootWith(['owner', 'innocent'])
const quiet = await channelOf(innocent)

/** Uploads whose addresses say much, too. */
const files = await Promise.all(
  times(10, (at) => {
    const key = `media/chat/${owner.account.toLowerCase()}/${at}${'aa-'.repeat(60)}a.png`
    return storeFileOn(server, owner.account, key, new Uint8Array(1))
  }),
)

const atOnce = 20
/** Adds those that may be added. */
async function fill(room: RoomRef, words: readonly string[]): Promise<void> {
  const add = (word: string) =>
    owner.tries('socket', moderation.act, { room, action: 'word_add', patch: { word, word_action: 'flag' } })
  for (let at = 0; at < words.length; at += atOnce) await Promise.all(words.slice(at, at + atOnce).map(add))
}

/** What somebody else asks as each of these begins is answered in time. */
async function othersAreServed<T>(attacks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const answers: T[] = []
  for (const attack of attacks) {
    const attacked = attack()
    const began = performance.now()
    await innocent.does('socket', messages.check, { room: quiet, text: 'hello' })
    expect(performance.now() - began).toBeLessThan(ceilingMilliseconds)
    answers.push(await attacked)
  }
  return answers
}

const checks = (room: RoomRef, text: string, piece: string) => [
  { room, text },
  { room, text, mentions: [{ kind: 'user' as const, id: piece.repeat(60).slice(0, 60), start: 0, len: 1 }] },
  {
    room,
    text,
    attachments: times(10, (at) => ({
      url: files[at] ?? '',
      name: piece.repeat(200).slice(0, 200),
      mime: 'a/b',
      size: 1,
    })),
  },
]

const alike = times(300, (at) => times(6, (sign) => '+＋⁺₊'.charAt((at >> (2 * sign)) & 3)).join(''))
const separated = times(300, (at) => `a${times(6, (sign) => ".-_ '".charAt(Math.floor(at / 5 ** sign) % 5)).join('')}`)

test.each([
  ['words with signs that are alike', alike, '+'],
  ['words with signs that end together', times(200, (at) => '+'.repeat(at + 1)), '+'],
  ['words with signs that are never whole', times(196, (at) => 'aa+'.repeat(70).slice(1, at + 4)), 'aa+'],
  ['phrases that are alike', separated, 'a b '],
])('N01: a text full of blocked words holds nobody up: %s', async (_title, words, piece) => {
  const room = await channelOf(owner)
  await fill(room, words)
  const text = piece.repeat(10_000).slice(0, 10_000)
  const before = process.cpuUsage()
  const asked = over.flatMap((door) => checks(room, text, piece).map((input) => ({ door, input })))
  const answers = await othersAreServed(
    asked.map(
      ({ door, input }) =>
        () =>
          owner.does(door, messages.check, input),
    ),
  )
  for (const { verdict } of answers) expect([null, 'TEXT_TOO_COMPLEX']).toContain(verdict.code)
  const { user } = process.cpuUsage(before)
  // Ten times what the budget of a text stands for.
  expect(user / 1_000).toBeLessThan(asked.length * 500)
})

test('N02: a full list that changes all the time holds nobody up, and holds at once', heavy, async () => {
  const room = await channelOf(owner)
  const han = (at: number) => String.fromCharCode(...times(199, (sign) => 0x4e00 + ((at * 7_919 + sign ** 2) % 20_000)))
  await fill(room, times(252, han))
  const before = process.cpuUsage()
  const change = (at: number) => async () => {
    const word = `added${at}`
    const { record } = await owner.does('socket', moderation.act, { room, action: 'word_add', patch: { word } })
    expect((await owner.does('socket', messages.check, { room, text: `is ${word}` })).verdict.code).toBe('BLOCKED_WORD')
    const { id } = record as { id: string }
    await owner.does('socket', moderation.act, { room, action: 'word_remove', patch: { word_id: id } })
    expect((await owner.does('socket', messages.check, { room, text: `is ${word}` })).verdict.code).toBeNull()
  }
  await othersAreServed(times(20, change))
  // Ten times what is promised: 15 ms of a processor for a change, with all that comes with it.
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(40 * 150)
})
