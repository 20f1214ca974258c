// Modes: embedded
import { describe, expect, test } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import { channelOf, check, moderates, over, say } from '#test/support/people'

const { root, owner, member, stranger } = await bootWith(['root', 'owner', 'member', 'stranger'], {
  superAdmins: ['root'],
})
/** A text of these pieces in no order, the same each time. */
function shuffled(pieces: readonly string[], length: number): string {
  let [text, state] = ['', 7]
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    text += pieces[(state >>> 8) % pieces.length]
  }
  return text.slice(0, length)
}

const tooComplex = {
  status: 400,
  code: 'TEXT_TOO_COMPLEX',
  message: 'This message could not be checked. Make it shorter or simpler.',
  verdict: { ok: false, step: 'blocked_words', code: 'TEXT_TOO_COMPLEX', status: 400, rule: null },
}
const add = (who: typeof owner, room: Parameters<typeof check>[1] | null, word: string, is_regex = false) =>
  moderates(who, { room, action: 'word_add', patch: { word, is_regex } })

describe('N01: a pattern that is held everywhere', () => {
  const offer = 'Buy some of my coins'

  test('is not retired by a costly text of a stranger, however often', async () => {
    await add(root, null, '(?:buy|sell).{0,40}(?:crypto|coins)', true)
    const room = await channelOf(stranger)
    const costly = shuffled(['buy ', 'bu', 'sell', 'cryp'], 10_000)
    for (const door of over)
      for (let time = 0; time < 3; time++) {
        const { verdict } = await stranger.does(door, messages.check, { room, text: costly })
        expect([null, 'TEXT_TOO_COMPLEX']).toContain(verdict.code)
      }
    for (const door of over)
      expect(await stranger.refused(door, messages.send, { room, text: offer })).toMatchObject({ code: 'BLOCKED_WORD' })
    const { words } = await root.does('rest', moderation.words, { scope: 'global' })
    expect(words.find(({ is_regex }) => is_regex)).toMatchObject({ quarantined: null })
  })
})

describe('N01: a text that is too long once it is normalised', () => {
  test.each([
    ['U+FDFA', '\ufdfa'.repeat(3_000)],
    ['U+FDFB', '\ufdfb'.repeat(9_000)],
  ])('is refused alike over both doors, whatever is blocked: %s', async (_sign, text) => {
    const room = await channelOf(stranger)
    const asked = [
      ...(await Promise.all(over.map((door) => stranger.refused(door, messages.send, { room, text })))),
      ...(await Promise.all(over.map((door) => stranger.does(door, messages.check, { room, text })))),
    ].map(({ verdict }) => verdict)
    expect(new Set(asked.map((verdict) => JSON.stringify(verdict))).size).toBe(1)
    for (const door of over)
      expect(await stranger.refused(door, messages.send, { room, text })).toMatchObject(tooComplex)
  })

  test('is none where a person writes it in a sentence', async () => {
    const room = await channelOf(member)
    expect(await check(member, room, 'محمد \ufdfa '.repeat(20))).toMatchObject({ ok: true })
  })
})

test('N02: sixty phrases of ninety words that a text of as many begins are judged within the budget', async () => {
  const room = await channelOf(owner)
  for (let at = 0; at < 60; at++) await add(owner, room, `${'a '.repeat(89)}b${at}`)
  await say(owner, room, 'a '.repeat(4_900))
  for (const door of over)
    expect(await owner.refused(door, messages.send, { room, text: `${'a '.repeat(4_000)}b7` })).toMatchObject({
      code: 'BLOCKED_WORD',
    })
})

test('N01: what is too costly is refused when it is saved, and tried before', async () => {
  const room = await channelOf(owner)
  for (const word of ['.{0,48}a.{0,49}[^ab]', '(the|a).{0,60}(scam|fraud)']) {
    const refused = await owner.rest('POST /api/moderation/act', {
      room,
      action: 'word_add',
      patch: { word, is_regex: true },
    })
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    expect(JSON.stringify(refused.body)).toContain('too costly')
    expect(await owner.rest('POST /api/moderation/simulate', { room, word, is_regex: true })).toMatchObject({
      status: 400,
    })
  }
})

test('N02: a dry run over costly messages lets others have their turn', heavy, async () => {
  const room = await channelOf(owner)
  const text = shuffled(['buy ', 'bu', 'sel', 'cryp'], 10_000)
  for (let at = 0; at < 40; at++) await say(owner, room, text.slice(at * 10))
  const word = '(?:bu|se).{0,20}(?:cryptocoins)'
  const runs = Array.from({ length: 4 }, () => owner.does('rest', moderation.simulate, { room, word, is_regex: true }))
  const started = performance.now()
  await member.does('rest', rooms.get, { room })
  expect(performance.now() - started).toBeLessThan(2_500)
  for (const run of await Promise.all(runs)) expect(run.tested).toBeGreaterThan(0)
})

describe('N02: a list of words', () => {
  const plus = ['++++++', '＋+++++', '⁺⁺⁺⁺⁺⁺', '₊+++++']

  test.each(over)('has each word once, however it is spelled: over %s', async (door) => {
    const room = await channelOf(owner)
    const adds = (word: string) => ({ room, action: 'word_add' as const, patch: { word } })
    for (const [first = '', ...others] of [plus, ['free money', 'FREE-money', 'ｆｒｅｅ money.', 'fréé_money']]) {
      await owner.does(door, moderation.act, adds(first))
      for (const other of others)
        expect(await owner.refused(door, moderation.act, adds(other))).toMatchObject({
          status: 409,
          code: 'CONFLICT',
          message: 'This word is blocked already',
        })
    }
    await owner.does(door, moderation.act, adds('++++++++'))
    await owner.does(door, moderation.act, adds('freemoney'))
  })

  test.each(over)(
    'holds a number of characters, normalised, which patterns do not count for: over %s',
    async (door) => {
      const room = await channelOf(owner)
      const adds = (word: string, is_regex = false) => ({
        room,
        action: 'word_add' as const,
        patch: { word, is_regex },
      })
      const long = (at: number) => `${'\ufdfa'.repeat(198)}${at}`
      for (let at = 10; at < 24; at++) await owner.does(door, moderation.act, adds(long(at)))
      expect(await owner.refused(door, moderation.act, adds(long(24)))).toMatchObject({
        status: 409,
        code: 'CONFLICT',
        message: 'The words of a list have at most 50000 characters together',
      })
      await owner.does(door, moderation.act, adds('buy.{0,9}coins', true))
      await owner.does(door, moderation.act, adds('a short one'))
      expect(await check(owner, room, 'this is a short one')).toMatchObject({ code: 'BLOCKED_WORD' })
    },
  )
})
