// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WidgetEntries } from '#server/domains/people/profiles/model'
import { profiles } from '#shared/api/people/profiles'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { alpha, type Door, moderates, outcomeOf, over, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

let server: Booted
let made = 0
beforeAll(async () => {
  server = await boot({ environment: { SUPER_ADMINS: wallet('root').address } })
})
afterAll(() => server.close())

const somebody = (name = 'visitor') => person(server, `${name} ${++made}`)

async function ownerWith(widget_type: 'guestbook' | 'poll' | 'reaction_wall' | 'visitor_counter', config = {}) {
  const owner = await somebody('owner')
  const { widget } = await owner.does('rest', profiles.arrange, { widget_type, config })
  return { owner, of: { owner: owner.account, widget_id: widget?.id ?? '' } }
}
type Place = Awaited<ReturnType<typeof ownerWith>>['of']

const boardFor = async (who: Person, door: Door, of: Place) => (await who.does(door, profiles.board, of)).board
const options = [
  { id: 'tea', text: 'Tea' },
  { id: 'milk', text: 'Milk' },
]

describe.each(over)('what visitors write in a profile, over %s', (door) => {
  test('is an entry of the guestbook, which everybody sees', async () => {
    const { owner, of } = await ownerWith('guestbook')
    const [one, two] = [await somebody(), await somebody()]
    const { entry } = await one.does(door, profiles.sign, { ...of, text: ' Hello! ' })
    expect(entry).toMatchObject({ text: 'Hello!', author_address: one.account })
    await two.does(door, profiles.sign, { ...of, text: 'And from me' })
    for (const who of [owner, one, two])
      expect((await boardFor(who, door, of)).entries.map(({ text }) => text)).toEqual(['And from me', 'Hello!'])
  })

  test('is deleted by its author and by the owner, and by nobody else', async () => {
    const { owner, of } = await ownerWith('guestbook')
    const [one, two] = [await somebody(), await somebody()]
    const signed = async () => (await one.does(door, profiles.sign, { ...of, text: 'Mine' })).entry.id
    const [first, second] = [await signed(), await signed()]
    expect(outcomeOf(await two.tries(door, profiles.removeEntry, { id: first }))).toBe('404 NOT_FOUND')
    await one.does(door, profiles.removeEntry, { id: first })
    await owner.does(door, profiles.removeEntry, { id: second })
    expect((await boardFor(two, door, of)).entries).toEqual([])
  })

  test('is refused after five entries of a person, to a stranger whom the owner has blocked, and in a hidden widget', async () => {
    const { owner, of } = await ownerWith('guestbook')
    const [one, two] = [await somebody(), await somebody()]
    const sign = (who: Person) => who.tries(door, profiles.sign, { ...of, text: 'Again' })
    for (let at = 0; at < 5; at++) expect(outcomeOf(await sign(one))).toBe('200')
    expect(outcomeOf(await sign(one))).toBe('400 VALIDATION_ERROR')
    await owner.rest('POST /api/users/block', { userAddress: two.account })
    expect(outcomeOf(await sign(two))).toBe('403 BLOCKED')
    await owner.does('rest', profiles.rearrange, { widgets: [{ id: of.widget_id, is_visible: false }] })
    expect(outcomeOf(await sign(await somebody()))).toBe('404 NOT_FOUND')
    expect(outcomeOf(await one.tries(door, profiles.board, of))).toBe('404 NOT_FOUND')
  })

  test('is judged as a message: no blocked word is written in a guestbook', async () => {
    const { of } = await ownerWith('guestbook')
    const word = `zork${door}`
    await (await person(server, 'root')).rest('POST /api/blocked-words', { word, action: 'block', scope: 'global' })
    const one = await somebody()
    expect(outcomeOf(await one.tries(door, profiles.sign, { ...of, text: `A ${word} here` }))).toBe('403 BLOCKED_WORD')
    expect((await boardFor(one, door, of)).entries).toEqual([])
  })

  test.each(['ban', 'mute'] as const)('is judged as a message: nothing after a %s in alpha', async (action) => {
    const { of } = await ownerWith('guestbook')
    const one = await somebody()
    await one.does('rest', rooms.join, { room: alpha })
    await moderates(await person(server, 'root'), { action, target: one.account, room: alpha, duration: '1h' })
    const refused = await one.refused(door, profiles.sign, { ...of, text: 'Hello' })
    expect(refused.code).toBe(action === 'ban' ? 'BANNED' : 'MUTED')
  })

  test('is nothing of somebody whom the owner has blocked', async () => {
    const { owner, of } = await ownerWith('poll', { question: 'What?', options })
    const one = await somebody()
    await owner.rest('POST /api/users/block', { userAddress: one.account })
    const chosen = await one.refused(door, profiles.choose, { ...of, choice: 'tea', is_on: true })
    expect([chosen.code, (await one.refused(door, profiles.visit, { owner: of.owner })).code]).toEqual([
      'BLOCKED',
      'BLOCKED',
    ])
  })

  test('is one answer of a poll, which can be changed and taken back', async () => {
    const { of } = await ownerWith('poll', { question: 'What?', options })
    const [one, two] = [await somebody(), await somebody()]
    const choose = async (who: Person, choice: string, is_on = true) =>
      (await who.does(door, profiles.choose, { ...of, choice, is_on })).board
    await choose(two, 'milk')
    await choose(one, 'tea')
    expect(await choose(one, 'tea')).toMatchObject({ counts: { tea: 1, milk: 1 }, own: ['tea'] })
    expect(await choose(one, 'milk')).toMatchObject({ counts: { tea: 0, milk: 2 }, own: ['milk'] })
    expect(await choose(one, 'milk', false)).toMatchObject({ counts: { tea: 0, milk: 1 }, own: [] })
    const other = await one.tries(door, profiles.choose, { ...of, choice: 'coffee', is_on: true })
    expect(outcomeOf(other)).toBe('404 NOT_FOUND')
  })

  test('is no answer of a poll that has ended', async () => {
    const { of } = await ownerWith('poll', { question: 'What?', options, endDate: '2020-01-01T00:00:00Z' })
    const late = await (await somebody()).tries(door, profiles.choose, { ...of, choice: 'tea', is_on: true })
    expect(outcomeOf(late)).toBe('400 VALIDATION_ERROR')
  })

  test('is any number of reactions, each once', async () => {
    const { of } = await ownerWith('reaction_wall', { allowedEmojis: ['❤️', '🎉'] })
    const one = await somebody()
    for (const choice of ['❤️', '🎉', '🎉']) await one.does(door, profiles.choose, { ...of, choice, is_on: true })
    expect(await boardFor(one, door, of)).toMatchObject({ counts: { '❤️': 1, '🎉': 1 } })
  })

  test('is a visit, which counts each account once and not the owner', async () => {
    const { owner, of } = await ownerWith('visitor_counter')
    const one = await somebody()
    for (const who of [owner, one, one, await somebody()]) await who.does(door, profiles.visit, { owner: of.owner })
    expect((await boardFor(one, door, of)).visitors).toBe(2)
    const nobody = await one.tries(door, profiles.visit, { owner: wallet(`nobody ${door}`).address })
    expect(outcomeOf(nobody)).toBe('404 NOT_FOUND')
  })
})

test('what was written in a widget goes with it', async () => {
  const { owner, of } = await ownerWith('guestbook')
  await (await somebody()).does('rest', profiles.sign, { ...of, text: 'Hello' })
  await owner.does('rest', profiles.removeWidget, { id: of.widget_id })
  expect(await WidgetEntries.countDocuments({ owner: of.owner })).toBe(0)
})
