// Modes: embedded
import { afterAll, expect, test } from 'vitest'
import { freeSteps, stepsOfACall } from '#server/kernel/limits/budgets'
import { tiers } from '#server/kernel/limits/limits'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { stepsOfAText } from '#shared/kit/budgets'
import { boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, over, type Person, people, person } from '#test/support/people'
import { times } from '#test/support/times'

const now = Date.now()
/** A server with the real limits, and a clock that stands, so that no call is free again. */
const server = await boot({
  nodes: 1,
  environment: { RATE_LIMIT_SCALE: '1' },
  change: (platform) => ({ ...platform, database: { ...platform.database, now: () => now } }),
})
afterAll(() => server.close())
const [owner, innocent, tester, prober] = await people(server, ...(['owner', 'innocent', 'tester', 'prober'] as const))
const letters = [...'жѫѱѯ']

/** Letters in no order, the same each time. */
function shuffled(pieces: readonly string[], length: number, seed: number): string {
  let [text, state] = ['', seed + 1]
  while (text.length < length) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    text += pieces[(state >>> 8) % pieces.length]
  }
  return text
}
let made = 0
/** A text that takes all steps of a judgement. */
const costly = () => shuffled(letters, 9_990, ++made)
/** The calls by which it is paid at least, with its own: a refusal may be judged again. */
const paid = 1 + Math.min(25, Math.ceil((stepsOfAText - 1_000_000 - freeSteps) / stepsOfACall))

const room = await channelOf(owner)
const adds = (who: Person, word: string) =>
  who.tries('socket', moderation.act, { room, action: 'word_add', patch: { word, is_regex: true } })
for (const letter of letters) expect(await adds(owner, `${letter}.{0,90}${letter}ȸ`)).toMatchObject({ ok: true })

/** A new member of the room. */
async function member(name: string): Promise<Person> {
  const who = await person(server, name)
  await who.does('rest', rooms.join, { room })
  return who
}

/** Says costly texts until the account is refused by its limit; how many were judged. */
async function judgedUntilRefused(who: Person, door: (typeof over)[number], most: number): Promise<number> {
  for (let judged = 0; judged <= most; judged++) {
    const { code, retryAfter } = await who.refused(door, messages.send, { room, text: costly() })
    if (code === 'RATE_LIMIT_EXCEEDED') {
      expect(retryAfter).toBeGreaterThan(0)
      return judged
    }
    expect(code).toBe('TEXT_TOO_COMPLEX')
  }
  throw new Error('Not refused')
}

test.each(over)('O04: an account pays for texts that its room makes costly: over %s', heavy, async (door) => {
  const sender = await member(`sender over ${door}`)
  const judged = await judgedUntilRefused(sender, door, tiers.messaging)
  expect(judged).toBeGreaterThan(0)
  expect(judged).toBeLessThanOrEqual(Math.ceil(tiers.messaging / paid))
})

test('O04: prose pays nothing beside its call, however long', heavy, async () => {
  const quiet = await channelOf(innocent)
  for (const word of ['zork', 'free money', 'c++'])
    await innocent.does('rest', moderation.act, { room: quiet, action: 'word_add', patch: { word } })
  const prose = [
    'Nobody knows why the lake is so cold in the summer. '.repeat(200),
    'Съешь ещё этих мягких французских булок, да выпей же чаю. '.repeat(200),
  ]
  for (let nth = 0; nth < tiers.messaging - 5; nth++)
    await innocent.does('rest', messages.send, {
      room: quiet,
      text: `${nth} ${prose[nth % prose.length]}`.slice(0, 9_990),
    })
})

test('O04: calls at once are judged no more often than calls in a row', heavy, async () => {
  const hasty = await member('hasty')
  const asked = times(20, () => hasty.tries('socket', messages.check, { room, text: costly() }))
  const outcomes = (await Promise.all(asked)).map((one) => (one.ok ? one.data.verdict.code : one.error.code))
  const judged = outcomes.filter((code) => code === 'TEXT_TOO_COMPLEX')
  expect(judged.length).toBeGreaterThan(0)
  // Three at most are judged before the first has paid.
  expect(judged.length).toBeLessThanOrEqual(Math.ceil(tiers.general / paid) + 2)
  expect(new Set(outcomes)).toEqual(new Set(['TEXT_TOO_COMPLEX', 'RATE_LIMIT_EXCEEDED']))
})

test('O04: each trial of a pattern is paid for, refused or not', heavy, async () => {
  const room = await channelOf(prober)
  let tried = 0
  for (; tried < tiers.general; tried++) {
    const patch = { word: `\\b\\pL\\pM.{${tried}}a$b`, is_regex: true }
    const { code } = await prober.refused('rest', moderation.act, { room, action: 'word_add', patch })
    if (code === 'RATE_LIMIT_EXCEEDED') break
    expect(code).toBe('VALIDATION_ERROR')
  }
  expect(tried).toBeGreaterThan(0)
  expect(tried).toBeLessThanOrEqual(tiers.general / 8)
})

test('O04: a dry run ends with its steps, and is paid by them', heavy, async () => {
  const room = await channelOf(tester)
  const sent = 30
  for (let nth = 0; nth < sent; nth++)
    await tester.does('rest', messages.send, { room, text: shuffled(['ж', 'a'], 9_990, nth) })
  const runs: number[] = []
  for (let nth = 0; nth < tiers.general; nth++) {
    const proposal = { room, word: `ж.{0,90}жq${nth}`, is_regex: true }
    const run = await tester.tries('rest', moderation.simulate, proposal)
    if (!run.ok) {
      expect(run.error.code).toBe('RATE_LIMIT_EXCEEDED')
      break
    }
    runs.push(run.data.tested)
  }
  expect(runs.length).toBeGreaterThan(0)
  expect(runs.length).toBeLessThanOrEqual(tiers.general / 20)
  for (const tested of runs) expect(tested).toBeLessThan(sent)
})

test('O04: a spent address judges costly texts no more, and takes all others', heavy, async () => {
  const stranger = await member('stranger')
  for (const name of times(8, (at) => `helper ${at}`)) {
    const helper = await member(name)
    await judgedUntilRefused(helper, 'socket', tiers.messaging)
  }
  for (const door of over) {
    const text = costly()
    expect(await stranger.refused(door, messages.send, { room, text })).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
    expect(await stranger.refused(door, messages.check, { room, text })).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
    await stranger.does(door, messages.send, { room, text: 'hello' })
  }
})
