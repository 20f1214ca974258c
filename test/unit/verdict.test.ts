import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textDraft } from '#server/domains/moderation/verdict/content'
import {
  capabilitiesIn,
  judgeMessage,
  type MessageDraft,
  probeOf,
  type SenderFacts,
} from '#server/domains/moderation/verdict/verdict'
import { type BlockedWord, compileWords } from '#server/domains/moderation/verdict/words'
import {
  Capabilities,
  MessageType,
  PermissionLevel,
  type Rules,
  RulesPatch,
  type Sendable,
  type Step,
  sendables,
  slowModeSeconds,
  steps,
  Verdict,
} from '#shared/api/moderation/verdict'
import { stepsOfAText } from '#shared/kit/budgets'
import { verdictMicroseconds } from '#test/bench/verdict'
import { heavy } from '#test/support/heavy'
import { now, sender, stateOf } from '#test/support/verdict'

const picture = `https://media.test/media/chat/${sender}/1_a`
const image = `https://media.test/chat-images/encrypted/${sender}/aGVsbG8w/1_a.enc`

function listOf(...words: (Partial<BlockedWord> & { word: string })[]) {
  return compileWords(
    words.map((word) => ({ id: `id-${word.word}`, scope: 'room', action: 'block', is_regex: false, ...word })),
  )
}

const say = (text: string): MessageDraft => textDraft('text', text)
const judge = (text: string, more?: Partial<SenderFacts>, rules?: Partial<Rules>) =>
  judgeMessage(say(text), stateOf(more, rules))

/** A state that fails each step, and a text that fails those that look at it. */
const obstacles: Readonly<Record<Step, { state?: Partial<SenderFacts>; rules?: Partial<Rules> }>> = {
  suspension: { state: { suspended: true } },
  ban: { state: { ban: { until: null } } },
  membership: { state: { member: false } },
  archived: { state: { archived: true } },
  mute: { state: { mute: { until: now + 1000 } } },
  read_only: { rules: { read_only: true } },
  content_type: { rules: { photos_allowed: 'disabled' } },
  blocked_words: { state: { words: [listOf({ word: 'zork' })] } },
  links: { rules: { links_allowed: 'disabled' } },
  length: { rules: { max_message_length: 10 } },
  slow_mode: { state: { lastMessageAt: now - 1 }, rules: { slow_mode_seconds: 5 } },
}
const offence = textDraft('photo', 'zork at https://example.com')

describe('the order of the steps', () => {
  it.each(steps.map((step, at) => [step, at] as const))('%s decides before all that follow', (step, at) => {
    const standing = steps.slice(at).map((later) => obstacles[later])
    const state: Partial<SenderFacts> = Object.assign({}, ...standing.map((obstacle) => obstacle.state))
    const rules: Partial<Rules> = Object.assign({}, ...standing.map((obstacle) => obstacle.rules))
    expect(judgeMessage(offence, stateOf(state, rules)).verdict.step).toBe(step)
  })
})

describe('each refusal', () => {
  it.each<[Step, MessageDraft, string, number, string]>([
    ['suspension', offence, 'SUSPENDED', 403, 'Your account is suspended'],
    ['ban', offence, 'BANNED', 403, 'You are banned from this room'],
    ['membership', offence, 'NOT_A_MEMBER', 403, 'You are not a member of this room'],
    ['archived', offence, 'ROOM_ARCHIVED', 409, 'This room is archived'],
    ['mute', offence, 'MUTED', 403, 'You are muted in this room'],
    ['read_only', offence, 'READ_ONLY', 403, 'This room is read-only'],
    ['content_type', offence, 'CONTENT_NOT_ALLOWED', 403, 'Photos are not allowed'],
    ['blocked_words', offence, 'BLOCKED_WORD', 403, 'Your message contains a blocked word'],
    ['links', offence, 'LINKS_NOT_ALLOWED', 403, 'Links are not allowed'],
    ['length', offence, 'MESSAGE_TOO_LONG', 400, 'Message exceeds 10 characters'],
    ['slow_mode', offence, 'SLOW_MODE', 429, 'Slow mode: wait 5 seconds'],
  ])('%s', (step, draft, code, status, text) => {
    const { state, rules } = obstacles[step]
    const { verdict } = judgeMessage(draft, stateOf(state, rules))
    expect(verdict).toMatchObject({ ok: false, step, code, status, text, judged_seq: 41 })
    expect(Verdict.parse(verdict)).toEqual(verdict)
  })

  it('says what decided', () => {
    expect(judge('hi', {}, { read_only: true }).verdict.rule).toEqual({
      id: 'read_only',
      kind: 'setting',
      scope: 'room',
    })
    expect(judge('hi', { words: [listOf({ word: 'hi', scope: 'global' })] }).verdict.rule).toEqual({
      id: 'id-hi',
      kind: 'word',
      scope: 'global',
    })
    expect(judge('hi', { words: [listOf({ word: 'h.', is_regex: true })] }).verdict.rule?.kind).toBe('pattern')
    expect(judge('hi', { suspended: true }).verdict.rule).toBeNull()
  })

  it('holds the same keys as an acceptance', () => {
    const accepted = judge('hi').verdict
    expect(accepted).toEqual({
      ok: true,
      step: null,
      code: null,
      status: 200,
      text: null,
      rule: null,
      until: null,
      judged_seq: 41,
    })
    expect(Object.keys(judge('hi', { member: false }).verdict)).toEqual(Object.keys(accepted))
  })
})

describe('bans and mutes', () => {
  it('say until when', () => {
    expect(judge('hi', { ban: { until: now + 60_000 } }).verdict.until).toBe('2030-01-01T00:01:00.000Z')
    expect(judge('hi', { mute: { until: now + 1 } }).verdict.until).toBe('2030-01-01T00:00:00.001Z')
    expect(judge('hi', { ban: { until: null } }).verdict.until).toBeNull()
  })

  it('end on time', () => {
    expect(judge('hi', { ban: { until: now }, mute: { until: now } }).verdict.ok).toBe(true)
    expect(judge('hi', { ban: { until: now - 1 } }).verdict.ok).toBe(true)
  })
})

describe('a moderator', () => {
  it.each([
    [false, false],
    [true, true],
  ])('(%s) passes read-only, mods_only and slow mode: %s', (moderator, ok) => {
    expect(judge('hi', { moderator }, { read_only: true }).verdict.ok).toBe(ok)
    expect(judge('https://x.test', { moderator }, { links_allowed: 'mods_only' }).verdict.ok).toBe(ok)
    expect(judge('hi', { moderator, lastMessageAt: now }, { slow_mode_seconds: 600 }).verdict.ok).toBe(ok)
  })

  it('does not pass what is disabled, nor blocked words, nor the length', () => {
    expect(judge('https://x.test', { moderator: true }, { links_allowed: 'disabled' }).verdict.code).toBe(
      'LINKS_NOT_ALLOWED',
    )
    expect(judge('zork', { moderator: true, words: [listOf({ word: 'zork' })] }).verdict.code).toBe('BLOCKED_WORD')
    expect(judge('zork', { moderator: true }, { max_message_length: 3 }).verdict.code).toBe('MESSAGE_TOO_LONG')
  })
})

describe('content types', () => {
  it.each<[MessageType, string, keyof Rules, string]>([
    ['photo', image, 'photos_allowed', 'Photos are not allowed'],
    ['encrypted_image', `[ENC_IMAGE:image/png]${image}`, 'photos_allowed', 'Photos are not allowed'],
    ['text', `[IMAGE]${image}`, 'photos_allowed', 'Photos are not allowed'],
    ['text', `\ufeff [ENC_IMAGE:image/png]${image}`, 'photos_allowed', 'Photos are not allowed'],
    ['text', '[IMAGE]https://evil.test/x.png', 'photos_allowed', 'Photos are not allowed'],
    ['gif', `[GIF]${image}`, 'gifs_allowed', 'GIFs are not allowed'],
    ['text', `[GIF]${image}`, 'gifs_allowed', 'GIFs are not allowed'],
    ['text', `[PIXEL_ART]${image}`, 'pixel_art_allowed', 'Pixel art is not allowed'],
    ['poll', '[POLL]Tea?', 'polls_allowed', 'Polls are not allowed'],
    ['text', '[POLL]Tea?', 'polls_allowed', 'Polls are not allowed'],
    ['text', '[LOCATION]{"lat":1}', 'location_sharing_allowed', 'Location sharing is not allowed'],
    ['voice', '[VOICE:3]x', 'voice_allowed', 'Voice messages are not allowed'],
    ['voice_memo', '', 'voice_allowed', 'Voice messages are not allowed'],
    ['gif', '[VOICE:3]x', 'voice_allowed', 'Voice messages are not allowed'],
    ['voice', `[GIF]${image}`, 'voice_allowed', 'Voice messages are not allowed'],
  ])('%s %j is held to %s', (type, text, rule, refusal) => {
    const refused = judgeMessage(textDraft(type, text), stateOf({}, { [rule]: 'disabled' })).verdict
    expect(refused).toMatchObject({ code: 'CONTENT_NOT_ALLOWED', text: refusal, rule: { id: rule } })
    const modsOnly = { [rule]: 'mods_only' }
    expect(judgeMessage(textDraft(type, text), stateOf({}, modsOnly)).verdict.code).toBe('CONTENT_NOT_ALLOWED')
    expect(judgeMessage(textDraft(type, text), stateOf({ moderator: true }, modsOnly)).verdict.code).not.toBe(
      'CONTENT_NOT_ALLOWED',
    )
  })

  it.each<[string, Partial<SenderFacts>, Partial<Rules>]>([
    [String.raw`"name":"z\u006frk"`, { words: [listOf({ word: 'zork' })] }, {}],
    [String.raw`"name":"z**o\u0072k**"`, { words: [listOf({ word: 'zork' })] }, {}],
    [String.raw`"at":[{"street":"z\u006frk"}]`, { words: [listOf({ word: 'zork' })] }, {}],
    [String.raw`"name":"https:\u002f\u002fevil.zip"`, {}, { links_allowed: 'disabled' }],
    [String.raw`"name":"evil\u002ecom"`, {}, { links_allowed: 'disabled' }],
  ])('N27: reads a place as its reader shows it: %s', (name, state, rules) => {
    const text = `[LOCATION]{"lat":1,"lng":2,${name}}`
    expect(judge(text, {}).verdict.ok).toBe(true)
    expect(judge(text, state, rules).verdict.ok).toBe(false)
  })

  it('T25: answers a permitted type with a foreign address otherwise', () => {
    const { verdict } = judge('[IMAGE]https://evil.test/x.png', {}, { links_allowed: 'disabled' })
    expect(verdict).toMatchObject({ step: 'content_type', code: 'INVALID_PARAMETER', status: 400, rule: null })
  })

  it('T25: exempts the own address alone from words, links and length', () => {
    const strict: Partial<Rules> = { links_allowed: 'disabled', max_message_length: 20 }
    const words = [listOf({ word: 'https', is_regex: true })]
    expect(judge(`[IMAGE]${picture}.png`, { words }, strict).verdict.ok).toBe(true)
    expect(judge(image, {}, { links_allowed: 'disabled' }).verdict.code).toBe('LINKS_NOT_ALLOWED')
    expect(judge(`x [IMAGE]${image}`, {}, { links_allowed: 'disabled' }).verdict.code).toBe('LINKS_NOT_ALLOWED')
    expect(judge('[POLL]see https://x.test', {}, { links_allowed: 'disabled' }).verdict.code).toBe('LINKS_NOT_ALLOWED')
    expect(judge('[POLL]zork', { words: [listOf({ word: 'zork' })] }).verdict.code).toBe('BLOCKED_WORD')
  })
})

describe('blocked words', () => {
  const muted = listOf({ word: 'zork', action: 'mute', scope: 'global' })

  it('of action mute are told from nothing else', () => {
    expect(judge('zork', { words: [muted] })).toEqual({
      verdict: {
        ok: false,
        step: null,
        code: 'MESSAGE_REJECTED',
        status: 403,
        text: 'Your message could not be sent.',
        rule: null,
        until: null,
        judged_seq: 41,
      },
      retryAfter: null,
      flagged: [],
      nextSendAt: null,
    })
  })

  it('of action flag deliver and are named', () => {
    const words = [
      listOf({ word: 'one', action: 'flag', scope: 'global' }),
      listOf({ word: 't.o', action: 'flag', is_regex: true }),
    ]
    const { verdict, flagged } = judge('two one', { words })
    expect(verdict.ok).toBe(true)
    expect(flagged).toEqual([
      { id: 'id-one', scope: 'global' },
      { id: 'id-t.o', scope: 'room' },
    ])
    expect(judge('two one', { words }, { max_message_length: 3 }).flagged).toEqual([])
  })

  it('are not spelled over two fields', () => {
    const words = [listOf({ word: 'zork nine' })]
    const naming = (id: string) => ({ ...say('zork'), mentions: [{ kind: 'user' as const, id, start: 0, len: 4 }] })
    expect(judgeMessage(naming('nine'), stateOf({ words })).verdict.code).toBe('BLOCKED_WORD')
    expect(judgeMessage(naming('ten'), stateOf({ words })).verdict.ok).toBe(true)
  })

  it('are judged globally first, then in the order of the list', () => {
    const room = listOf({ word: 'one' }, { word: 'two' })
    expect(judge('two one', { words: [room] }).verdict.rule?.id).toBe('id-one')
    expect(judge('two one zork', { words: [muted, room] }).verdict.code).toBe('MESSAGE_REJECTED')
    expect(judge('two one zork', { words: [room, muted] }).verdict.rule?.id).toBe('id-one')
  })
})

describe('length', () => {
  it.each([
    ['', true],
    ['abcde', true],
    ['abcdef', false],
    ['😀😀😀😀😀', true],
    ['😀😀😀😀😀😀', false],
    ['ééé', true],
  ])('%j within 5: %s', (text, ok) => expect(judge(text, {}, { max_message_length: 5 }).verdict.ok).toBe(ok))
})

describe('slow mode', () => {
  const slow: Partial<Rules> = { slow_mode_seconds: 30 }

  it.each([
    [0, 30],
    [1, 30],
    [999, 30],
    [1_000, 29],
    [29_000, 1],
    [29_999, 1],
  ])('%i ms after the last message there are %i seconds to wait', (passed, seconds) => {
    const ruling = judge('hi', { lastMessageAt: now - passed }, slow)
    expect(ruling.verdict).toMatchObject({ code: 'SLOW_MODE', text: `Slow mode: wait ${seconds} seconds`, until: null })
    expect(ruling).toMatchObject({ retryAfter: seconds, nextSendAt: now - passed + 30_000 })
  })

  it('lets pass on time, and says when the next may', () => {
    expect(judge('hi', { lastMessageAt: now - 30_000 }, slow)).toMatchObject({
      verdict: { ok: true },
      nextSendAt: now + 30_000,
    })
    expect(judge('hi', {}, slow).nextSendAt).toBe(now + 30_000)
    expect(judge('hi').nextSendAt).toBeNull()
    expect(judge('hi', { moderator: true, lastMessageAt: now }, slow).nextSendAt).toBeNull()
  })
})

describe('a kind of room in which moderators alone write', () => {
  it.each([null, 'epoch'] as const)('refuses members as its capabilities say, sealed: %s', (sealed) => {
    const state = stateOf({ sealed, forModerators: true })
    expect(judgeMessage(say('hi'), state).verdict).toMatchObject({ step: 'read_only', code: 'READ_ONLY' })
    expect(Object.values(capabilitiesIn(state).capabilities).map(({ code }) => code)).not.toContain(null)
    const moderator = stateOf({ sealed, forModerators: true, moderator: true })
    expect(judgeMessage(say('hi'), moderator).verdict.ok).toBe(true)
    expect(capabilitiesIn(moderator).capabilities.text).toEqual({ ok: true, code: null })
  })
})

describe('direct messages', () => {
  it('know suspension, block and membership alone', () => {
    const rules: Partial<Rules> = {
      read_only: true,
      photos_allowed: 'disabled',
      links_allowed: 'disabled',
      max_message_length: 1,
      slow_mode_seconds: 600,
    }
    const dm: Partial<SenderFacts> = { sealed: 'epoch', words: [listOf({ word: 'zork' })], lastMessageAt: now }
    expect(judgeMessage(offence, stateOf(dm, rules))).toMatchObject({
      verdict: { ok: true },
      nextSendAt: null,
    })
    expect(judgeMessage(offence, stateOf({ ...dm, blocked: true })).verdict).toMatchObject({
      step: 'ban',
      code: 'BLOCKED',
    })
    expect(judgeMessage(offence, stateOf({ ...dm, member: false })).verdict.code).toBe('NOT_A_MEMBER')
    expect(judgeMessage(offence, stateOf({ ...dm, suspended: true, blocked: true })).verdict.code).toBe('SUSPENDED')
  })
})

const level = fc.constantFrom(...PermissionLevel.options)
const anyRules: fc.Arbitrary<Rules> = fc.record({
  links_allowed: level,
  photos_allowed: level,
  pixel_art_allowed: level,
  gifs_allowed: level,
  polls_allowed: level,
  location_sharing_allowed: level,
  voice_allowed: level,
  files_allowed: level,
  read_only: fc.boolean(),
  slow_mode_seconds: fc.constantFrom(...slowModeSeconds),
  max_message_length: fc.constantFrom(0, 5, 500),
  rules_text: fc.constant(null),
  read_access: fc.constant('everyone' as const),
  message_ttl: fc.constant(0 as const),
})
const term = fc.option(fc.record({ until: fc.option(fc.constantFrom(now - 1, now, now + 1)) }), { freq: 1 })
const rarely = fc.nat(9).map((draw) => draw === 0)
const anyState: fc.Arbitrary<SenderFacts> = fc.record({
  sealed: fc.constantFrom(null, 'epoch', 'shared-key'),
  forModerators: fc.boolean(),
  now: fc.constant(now),
  ahead: fc.constant(0),
  judgedSeq: fc.nat(),
  suspended: rarely,
  ban: term,
  blocked: fc.boolean(),
  member: rarely.map((draw) => !draw),
  archived: rarely,
  mute: term,
  moderator: fc.boolean(),
  rules: anyRules,
  words: fc.constantFrom([], [listOf({ word: 'zork' })], [listOf({ word: 'example', action: 'mute' })]),
  steps: fc.constant(stepsOfAText),
  lastMessageAt: fc.option(fc.integer({ min: now - 700_000, max: now })),
  sender: fc.constant(sender),
  storage: fc.constant({ publicUrl: 'https://media.test', missing: new Set<string>() }),
})

const file = `https://media.test/media/file/${sender}/1_a.cGxhbi5wZGY.pdf`
/** A real message of each kind, where the probe of the capability is a bare one. */
const genuine: Readonly<Record<Sendable, MessageDraft>> = {
  text: say('hi'),
  photo: textDraft('photo', `[IMAGE]${picture}.png`),
  gif: textDraft('gif', `[GIF]${picture}.gif`),
  pixel_art: textDraft('pixel_art', `[PIXEL_ART]${picture.replace('chat', 'pixel-art')}.png`),
  poll: textDraft('poll', 'Tea?'),
  location: textDraft('location', ''),
  voice: textDraft('voice', `[VOICE:3]${image.replace('chat-images/encrypted', 'chat-voice/voice')}`),
  encrypted_image: textDraft('encrypted_image', `[ENC_IMAGE:image/png]${image}`),
  voice_memo: textDraft('voice_memo', `[VOICE:3]${image.replace('chat-images/encrypted', 'chat-voice/voice')}`),
  file: { ...say('plan.pdf'), attachments: [{ url: file, name: 'plan.pdf', mime: 'application/pdf', size: 3 }] },
  links: say('https://a.io'),
}

describe('capabilities', () => {
  it('equal the verdict on a message of their kind', () => {
    fc.assert(
      fc.property(anyState, fc.constantFrom(...sendables), (state, sendable) => {
        // What is sealed by a shared key is judged by those who open it.
        fc.pre(state.sealed !== 'shared-key')
        const { capabilities: may, ...rest } = capabilitiesIn(state)
        const rested = { ...state, lastMessageAt: null }
        const { ok, code } = judgeMessage(probeOf(sendable, rested), rested).verdict
        expect(may[sendable]).toEqual({ ok, code })
        expect(Capabilities.parse({ capabilities: may, ...rest })).toEqual({ capabilities: may, ...rest })

        const roomy = { ...rested, words: [], rules: { ...state.rules, max_message_length: 0 } }
        // What is sealed has its files inside.
        const sent = { ...genuine[sendable], ...(state.sealed === null ? {} : { attachments: [] }) }
        const real = judgeMessage(sent, roomy).verdict
        expect(capabilitiesIn(roomy).capabilities[sendable]).toEqual({ ok: real.ok, code: real.code })
      }),
      { numRuns: 1_000 },
    )
  })

  it('M65: leave slow mode to the time of the next message, and say how long a text may be', () => {
    const slow: Partial<Rules> = { slow_mode_seconds: 10, max_message_length: 200 }
    expect(capabilitiesIn(stateOf({ lastMessageAt: now - 4_000 }, slow))).toMatchObject({
      capabilities: Object.fromEntries(sendables.map((sendable) => [sendable, { ok: true, code: null }])),
      next_send_at: '2030-01-01T00:00:06.000Z',
      max_length: 200,
    })
    expect(capabilitiesIn(stateOf({}, slow)).next_send_at).toBeNull()
  })
})

describe('the verdict', () => {
  it('is whole, and the same each time', () => {
    const draft = fc.record({
      type: fc.constantFrom(...MessageType.options),
      text: fc.oneof(fc.string(), fc.constantFrom('zork', 'https://x.test', `[IMAGE]${image}`, '[VOICE:9]x')),
    })
    fc.assert(
      fc.property(draft, anyState, ({ type, text }, state) => {
        const message = textDraft(type, text)
        const ruling = judgeMessage(message, state)
        expect(Verdict.parse(ruling.verdict)).toEqual(ruling.verdict)
        expect(judgeMessage(message, state)).toEqual(ruling)
        expect(ruling.retryAfter !== null).toBe(ruling.verdict.code === 'SLOW_MODE')
      }),
      { numRuns: 1_000 },
    )
  })

  it('refuses what is refused for good whatever the slow mode', () => {
    fc.assert(
      fc.property(fc.string(), anyState, (text, state) => {
        const waiting = judgeMessage(say(text), state).verdict
        const rested = judgeMessage(say(text), { ...state, lastMessageAt: null }).verdict
        expect(rested).toEqual(waiting.code === 'SLOW_MODE' ? { ...waiting, ...acceptance } : waiting)
      }),
    )
  })
})

const acceptance = { ok: true, step: null, code: null, status: 200, text: null, rule: null }

describe('rules as written', () => {
  it('take legacy booleans and leave out what is not named', () => {
    expect(
      RulesPatch.parse({ photos_allowed: true, links_allowed: false, gifs_allowed: 'mods_only', other: 1 }),
    ).toEqual({
      photos_allowed: 'everyone',
      links_allowed: 'disabled',
      gifs_allowed: 'mods_only',
    })
  })

  it.each([{ slow_mode_seconds: 7 }, { photos_allowed: 'all' }, { max_message_length: -1 }, { read_only: 'no' }])(
    'refuse %j',
    (patch) => expect(RulesPatch.safeParse(patch).success).toBe(false),
  )
})

it('takes no more than ten times the 20 microseconds that are promised for a busy room', heavy, () => {
  expect(verdictMicroseconds()).toBeLessThan(200)
})
