// Modes: embedded
import { beforeEach, describe, expect, test } from 'vitest'
import { Pairs } from '#server/domains/people/friends/model'
import { social } from '#shared/api/moderation/social'
import { friends } from '#shared/api/people/friends'
import { friendTagChanged } from '#shared/api/people/profile-theme'
import { bootWith } from '#test/support/boot-with'
import { befriend, over, type Person, people, person, staysSilent } from '#test/support/people'

const path = '/api/friends/tags'
let one: Person
let two: Person
let round = 0

const { server } = await bootWith([])
beforeEach(async () => {
  round += 1
  ;[one, two] = await people(server, `tagging ${round}`, `tagged ${round}`)
  await befriend(one, two)
})

const put = async (who: Person, whom: Person, given: object) =>
  (await who.does('rest', friends.tag, { friendAddress: whom.account, ...given })).tag
const tagsOf = async (who: Person) => (await who.does('rest', friends.tags, {})).tags
const friendOf = async (who: Person) => (await who.does('rest', friends.list, {})).friends[0]

describe('tags of friends', () => {
  test.each(over)('over %s: a tag is put on, changed and taken off, and is in the list of friends', async (door) => {
    const friendAddress = two.account
    const { tag } = await one.does(door, friends.tag, { friendAddress, tag: ' Climbing ', emoji: '🧗', color: '#0AF' })
    expect(tag).toEqual({
      ...{ id: expect.any(String), user_address: one.account, friend_address: two.account },
      ...{ tag: 'Climbing', emoji: '🧗', color: '#00aaff' },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
    })
    expect(await one.does(door, friends.tags, {})).toEqual({ tags: [tag] })
    expect(await friendOf(one)).toMatchObject({ friend_address: two.account, tag, tags: [tag] })
    const changed = await one.does(door, friends.tag, { friendAddress, emoji: '⛵' })
    expect(changed.tag).toMatchObject({ id: tag?.id, created_at: tag?.created_at, tag: null, emoji: '⛵', color: null })
    expect(await one.does(door, friends.untag, { friendAddress })).toEqual({ success: true })
    expect(await one.does(door, friends.untag, { friendAddress })).toEqual({ success: true })
    expect(await tagsOf(one)).toEqual([])
    expect(await friendOf(one)).toMatchObject({ tag: null })
  })

  test.each([{}, { tag: '', emoji: '' }, { tag: null, emoji: null, color: '#ff0000' }, { tag: '  ' }])(
    'without words and emoji, as %j, it is taken off',
    async (given) => {
      await put(one, two, { tag: 'Here' })
      expect(await put(one, two, given)).toBeNull()
      expect(await tagsOf(one)).toEqual([])
    },
  )

  test('each of the two has a tag of their own, which the other is never told', async () => {
    const [mine, theirs] = [await one.socket('/notifications'), await two.socket('/notifications')]
    const tag = await put(one, two, { tag: 'Owes me a book' })
    expect(await mine.hears(friendTagChanged)).toEqual({ friend_address: two.account, tag })
    await staysSilent(theirs, friendTagChanged)
    expect(await tagsOf(two)).toEqual([])
    expect(await friendOf(two)).toMatchObject({ tag: null, tags: [] })
    await put(two, one, { emoji: '🎻' })
    expect(await tagsOf(one)).toEqual([tag])
    expect(await tagsOf(two)).toMatchObject([{ user_address: two.account, emoji: '🎻' }])
    await one.does('rest', friends.untag, { friendAddress: two.account })
    await expect.poll(() => mine.all(friendTagChanged).at(-1)).toEqual({ friend_address: two.account, tag: null })
  })

  test.each(over)('over %s: who is no friend is not tagged, nor oneself: 404', async (door) => {
    const stranger = await person(server, `stranger ${round}`)
    for (const friendAddress of [stranger.account, one.account])
      expect(await one.refused(door, friends.tag, { friendAddress, tag: 'Nobody' })).toMatchObject({
        status: 404,
        code: 'NOT_FOUND',
      })
    await stranger.does('rest', friends.request, { toAddress: one.account })
    expect(await one.refused(door, friends.tag, { friendAddress: stranger.account, tag: 'Not yet' })).toMatchObject({
      status: 404,
    })
  })

  test.each([
    ['31 characters', { tag: 'x'.repeat(31) }],
    ['a second line', { tag: 'one\ntwo' }],
    ['signs of direction', { tag: 'a\u202eb' }],
    ['words for an emoji', { tag: 'Fine', emoji: 'ok' }],
    ['two emoji', { emoji: '🎻🎻' }],
    ['no colour', { tag: 'Fine', color: 'url(https://elsewhere.test)' }],
  ])('%s are refused', async (_what, given) => {
    const asked = { friendAddress: two.account, ...given }
    expect(await one.refused('rest', friends.tag, asked)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    expect(await tagsOf(one)).toEqual([])
    const thirty = '🧗'.repeat(30)
    expect(await put(one, two, { tag: thirty })).toMatchObject({ tag: thirty })
  })

  test('a tag ends with the friendship, and with a block', async () => {
    await put(one, two, { tag: 'Before' })
    await one.does('rest', friends.removeByAddress, { friendAddress: two.account })
    await befriend(one, two)
    expect(await tagsOf(one)).toEqual([])
    await put(one, two, { tag: 'Again' })
    await two.does('rest', social.block, { userAddress: one.account })
    expect(await tagsOf(one)).toEqual([])
  })

  test('of a friendship that older versions stored there is no tag until one is put on', async () => {
    await put(one, two, { tag: 'New' })
    const ofBoth = { _id: [one.account, two.account].sort().join(' ') }
    await Pairs.updateOne(ofBoth, { $unset: { from_tag: '', to_tag: '' } })
    expect(await tagsOf(one)).toEqual([])
    expect(await friendOf(one)).toMatchObject({ tag: null })
    expect(await put(one, two, { tag: 'Now' })).toMatchObject({ tag: 'Now' })
  })

  test('the caller is who asks: another in userAddress is 403', async () => {
    const asked = { userAddress: one.account, friendAddress: one.account, tag: 'Mine' }
    expect((await two.rest(`PUT ${path}`, asked)).status).toBe(403)
    expect((await two.rest(`GET ${path}?userAddress=${one.account}`)).status).toBe(403)
    expect((await two.rest(`DELETE ${path}?userAddress=${one.account}&friendAddress=${one.account}`)).status).toBe(403)
  })
})
