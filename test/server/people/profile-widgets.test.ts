// Modes: embedded
import { beforeEach, describe, expect, test } from 'vitest'
import { UploadRecords } from '#server/domains/media/files/model'
import { namedFiles } from '#server/domains/media/files/removal'
import { ProfilePages } from '#server/domains/people/profiles/model'
import { addressOf } from '#server/ports/storage/port'
import { kindOfWidget, widgetsAtMost, widgetTypes } from '#shared/api/people/profile-widgets'
import { profiles } from '#shared/api/people/profiles'
import { bootWith } from '#test/support/boot-with'
import { over, type Person, people } from '#test/support/people'
import { call, wallet } from '#test/support/wallet'

const path = '/api/profile/widgets'
let one: Person
let two: Person
let round = 0

const { server, admin } = await bootWith(['admin'], { admins: ['admin'] })
beforeEach(async () => {
  round += 1
  ;[one, two] = await people(server, `arranging ${round}`, `visiting ${round}`)
})

const own = async (who: Person) => (await who.does('rest', profiles.widgets, {})).widgets
const shown = async (whose: Person) =>
  profiles.widgets.output.parse((await call(server.url, `GET ${path}?address=${whose.account}`)).body)
const add = async (who: Person, widget: object) => {
  const { widget: made } = await who.does('rest', profiles.arrange, widget)
  if (!made) throw new Error('None was added')
  return made
}
const kept = async (widget_type: string, config: object) => (await add(one, { widget_type, config })).config
const text = (says: string, more: object = {}) => ({
  widget_type: 'text' as const,
  config: { text: says },
  size: '2x1' as const,
  ...more,
})
const saying = (widgets: readonly { config: object }[]) =>
  widgets.map(({ config }) => (config as { text?: string }).text)

describe('widgets of a profile', () => {
  test.each(over)('over %s: a set takes the place of what was there, with its theme', async (door) => {
    await one.does(door, profiles.arrange, text('Before'))
    const { success, widgets, theme } = await one.does(door, profiles.arrange, {
      widgets: [text('First'), text('Hidden', { is_visible: false }), text('Last')],
      theme: { accent_color: '#abc' },
    })
    expect({ success, theme }).toMatchObject({ success: true, theme: { accent_color: '#aabbcc' } })
    expect(saying(widgets ?? [])).toEqual(['First', 'Hidden', 'Last'])
    expect(await one.does(door, profiles.widgets, {})).toEqual({ widgets, theme })
    const seen = await two.does(door, profiles.widgets, { address: one.account })
    expect(saying(seen.widgets)).toEqual(['First', 'Last'])
    expect(saying((await shown(one)).widgets)).toEqual(['First', 'Last'])
    await one.does(door, profiles.arrange, { widgets: [] })
    expect(await shown(one)).toMatchObject({ widgets: [], theme: { accent_color: '#aabbcc' } })
  })

  test('one is added behind the last, in its smallest size, and has both names of its type', async () => {
    const first = await add(one, { type: 'clock', config: { timezone: 'Europe/Berlin' }, position: 7 })
    expect(first).toMatchObject({
      ...{ widget_type: 'clock', type: 'clock', size: '1x1', position: 7, is_visible: true },
      ...{ user_address: one.account, config: { timezone: 'Europe/Berlin' } },
    })
    expect(await add(one, { widget_type: 'github' })).toMatchObject({ size: '4x1', position: 8, config: {} })
    expect((await own(one)).map(({ type }) => type)).toEqual(['clock', 'github'])
  })

  test('a repeat with the same key adds one', async () => {
    const widget = { ...text('Once'), idempotency_key: `once-${round}` }
    expect(await add(one, widget)).toEqual(await add(one, widget))
    expect(await own(one)).toHaveLength(1)
  })

  test.each(over)('over %s: changes are by id, and those of others are passed over', async (door) => {
    const [mine, last, theirs] = [
      await add(one, text('Mine')),
      await add(one, text('Last')),
      await add(two, text('Theirs')),
    ]
    const change = { position: 0, is_visible: false, config: { text: 'Changed' } }
    await one.does(door, profiles.rearrange, {
      widgets: [
        { id: last.id, position: 0 },
        { id: mine.id, position: 1, config: { text: 'New' } },
      ],
    })
    expect(saying(await own(one))).toEqual(['Last', 'New'])
    await two.does(door, profiles.rearrange, {
      widgets: [
        { id: mine.id, ...change },
        { id: theirs.id, size: '4x1' },
      ],
    })
    expect(saying(await own(one))).toEqual(['Last', 'New'])
    expect(await own(two)).toMatchObject([{ size: '4x1', config: { text: 'Theirs' } }])
    await two.does(door, profiles.removeWidget, { id: mine.id })
    expect(await own(one)).toHaveLength(2)
    for (const _time of [1, 2]) await one.does(door, profiles.removeWidget, { id: mine.id })
    expect(saying(await own(one))).toEqual(['Last'])
    expect(await one.refused(door, profiles.removeWidget, {} as never)).toMatchObject({ status: 400 })
    expect(await one.refused(door, profiles.rearrange, { widgets: 'all' } as never)).toMatchObject({ status: 400 })
  })

  test('a widget of another type keeps what that type has', async () => {
    const { id } = await add(one, { widget_type: 'text', size: '2x1', config: { text: 'Kept?', emoji: '🌊' } })
    await one.does('rest', profiles.rearrange, { widgets: [{ id, widget_type: 'streak_counter' }] })
    expect(await own(one)).toMatchObject([{ widget_type: 'streak_counter', config: { emoji: '🌊' } }])
    expect((await one.rest(`PUT ${path}`, { widgets: [{ id, widget_type: 'guestbook' }] })).status).toBe(400)
  })

  test('without an address it is the caller, who must be somebody; nobody acts for another', async () => {
    expect((await call(server.url, `GET ${path}`)).status).toBe(401)
    expect((await call(server.url, `POST ${path}`, text('x'))).status).toBe(401)
    for (const route of [`POST ${path}`, `PUT ${path}`])
      expect((await two.rest(route, { address: one.account, widgets: [] })).status).toBe(403)
    expect(await shown({ ...one, account: wallet('nobody at all').address })).toEqual({ widgets: [], theme: null })
  })

  test('a suspended account shows nothing to others', async () => {
    await add(one, text('Here'))
    const ban = (on: boolean) => admin.rest('POST /api/admin/ban', { userAddress: one.account, ban: on })
    await ban(true)
    expect(await shown(one)).toEqual({ widgets: [], theme: null })
    await ban(false)
    expect(saying((await shown(one)).widgets)).toEqual(['Here'])
  })

  test('older pages, without widgets, are shown and added to', async () => {
    await one.does('rest', profiles.dress, { card_style: 'pill' })
    await ProfilePages.updateOne({ _id: one.account }, { $unset: { widgets: '' } })
    expect(await own(one)).toEqual([])
    await add(one, text('New'))
    expect((await shown(one)).theme).toMatchObject({ card_style: 'pill' })
  })
})

describe('a set is saved whole or not at all', () => {
  test.each([
    ['an unknown type', { widget_type: 'iframe' }],
    ['no type', { config: {} }],
    ['a size of another type', { widget_type: 'clock', size: '4x2' }],
    ['a value of another kind', { widget_type: 'text', config: { text: { $ne: '' } } }],
    ['a text too long', { widget_type: 'text', config: { text: 'x'.repeat(1_001) } }],
    ['too many items', { widget_type: 'random_fact', config: { facts: Array(25).fill('x') } }],
    ['a name that turns the text beside it', { widget_type: 'agent', config: { name: 'Sam\u202ex' } }],
    ['a sign that is none', { widget_type: 'reaction_wall', config: { reactions: { 'a.b': 1 } } }],
  ])('with %s, nothing of it is', async (_what, widget) => {
    await one.does('rest', profiles.arrange, { widgets: [text('Before')], theme: { card_style: 'sharp' } })
    const { status, code } = await one.rest(`POST ${path}`, {
      widgets: [text('After'), widget],
      theme: { card_style: 'pill' },
    })
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' })
    expect(await shown(one)).toMatchObject({
      widgets: [{ config: { text: 'Before' } }],
      theme: { card_style: 'sharp' },
    })
  })

  test('with a theme that is none, nothing of it is', async () => {
    const theme = { background_type: 'gradient', background_value: 'url(x)' }
    expect((await one.rest(`POST ${path}`, { widgets: [text('After')], theme })).status).toBe(400)
    expect(await shown(one)).toEqual({ widgets: [], theme: null })
  })

  test('of two sets at once one is there, and of many that are added none is lost', async () => {
    const set = (says: string) => one.does('rest', profiles.arrange, { widgets: Array(20).fill(text(says)) })
    await Promise.all(['one', 'two', 'three'].map(set))
    expect(new Set(saying(await own(one))).size).toBe(1)
    await Promise.all(Array.from({ length: 12 }, (_, at) => add(two, text(`${at}`))))
    expect(new Set(saying(await own(two))).size).toBe(12)
    expect(new Set((await own(two)).map(({ position }) => position)).size).toBe(12)
  })

  test('a profile has 50 widgets, and each and all of them have room for so much', async () => {
    await one.does('rest', profiles.arrange, { widgets: Array(widgetsAtMost).fill(text('x')) })
    expect((await one.rest(`POST ${path}`, text('x'))).status).toBe(400)
    const full = { widget_type: 'random_fact', size: '2x1', config: { facts: Array(24).fill('ы'.repeat(300)) } }
    expect((await two.rest(`POST ${path}`, full)).status).toBe(400)
    const large = { ...full, config: { facts: Array(24).fill('y'.repeat(300)) } }
    const statuses = []
    for (let at = 0; at < 15; at++) statuses.push((await two.rest(`POST ${path}`, large)).status)
    expect(statuses).toEqual([...Array(13).fill(200), 400, 400])
  })
})

describe('T83: what a widget is set to', () => {
  test.each(widgetTypes)('%s: its usual size is one of its own, and other fields are left out', async (widget_type) => {
    const { usual, sizes } = kindOfWidget(widget_type)
    expect(sizes).toContain(usual)
    const config = { onclick: 'alert(1)', style_: 'x', html: '<b>', nested: { a: 1 } }
    expect(await add(one, { widget_type, size: usual, config })).toMatchObject({ config: {}, size: usual })
  })

  const bad = [
    'javascript:alert(1)',
    ' JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'data:image/svg+xml,<svg onload=alert(1)>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://x.test/1',
    '//evil.test',
    '/api/admin',
    'https://name:word@evil.test/',
    '',
  ]
  test.each([
    ['link', 'url'],
    ['image', 'url'],
    ['image', 'link'],
    ['currently', 'imageUrl'],
    ['game_now_playing', 'coverUrl'],
    ['schedule', 'avatarUrl'],
    ['vinyl_record', 'albumArt'],
    ['vinyl_record', 'spotifyUrl'],
    ['social_embed', 'embedUrl'],
    ['spotify', 'spotifyUri'],
  ])('%s.%s is an address of the web, or nothing', async (widget_type, field) => {
    const size = kindOfWidget(widget_type as never).usual
    const widgets = bad.map((url) => ({ widget_type, size, config: { [field]: url } }))
    const { body } = await one.rest(`POST ${path}`, { widgets })
    expect((body.widgets as { config: object }[]).map(({ config }) => config)).toEqual(bad.map(() => ({})))
  })

  test('addresses in lists are cleaned as well', async () => {
    const images = [{ url: 'javascript:alert(1)', caption: 'No' }, { url: 'https://pictures.test/a.png' }]
    expect(await kept('photo_carousel', { images })).toEqual({
      images: [{ caption: 'No' }, { url: 'https://pictures.test/a.png' }],
    })
    expect(await kept('bookshelf', { books: [{ title: 'B', coverUrl: 'data:x' }] })).toEqual({
      books: [{ title: 'B' }],
    })
  })

  test('a link that says it leads to a platform leads there', async () => {
    const to = (platform: string, url: string) => kept('social_link', { platform, url, handle: 'sam' })
    expect(await to('github', 'https://github.com/sam')).toMatchObject({ url: 'https://github.com/sam' })
    expect(await to('youtube', 'https://www.youtube.com/@sam')).toHaveProperty('url')
    expect(await to('website', 'https://sam.test/')).toHaveProperty('url')
    for (const url of [
      'https://github.com.evil.test/',
      'https://evilgithub.com/',
      'https://evil.test/github.com',
      'https://github.com@evil.test',
    ])
      expect(await to('github', url), url).toEqual({ platform: 'github', handle: 'sam' })
    expect(await kept('social_link', { url: 'https://evil.test' })).toEqual({})
  })

  test('ids of other services and colours are what they are, or nothing', async () => {
    expect(await kept('nft', { contractAddress: '0x12', tokenId: '1' })).toEqual({ tokenId: '1' })
    expect(await kept('video', { videoId: 'a"><script>' })).toEqual({})
    expect(await kept('video', { videoId: 'dQw4w9WgXcQ', platform: 'youtube' })).toHaveProperty('videoId')
    expect(await kept('spotify', { spotifyUri: 'https://spotify.com.evil.test/x' })).toEqual({})
    expect(await kept('spotify', { spotifyUri: 'spotify:track:4uLU6hMCjMI75M1A2tKUQC' })).toHaveProperty('spotifyUri')
    expect(await kept('color_palette', { colors: [{ hex: 'url(x)' }, { hex: '#0AF' }] })).toEqual({
      colors: [{}, { hex: '#00aaff' }],
    })
    expect(await kept('clock', { timezone: 'Mars/Base' })).toEqual({})
    expect(await kept('countdown', { targetDate: 'soon' })).toEqual({})
    expect(await kept('link', { icon: 'javascript:alert(1)' })).toEqual({})
    expect(await kept('link', { icon: '🌍' })).toEqual({ icon: '🌍' })
    for (const icon of ['\u202egpj.exe', '//a.test/x.png', '<img src=x>', 'a\nb'])
      expect([icon, await kept('link', { icon })]).toEqual([icon, {}])
    const turned = { widget_type: 'reaction_wall', config: { reactions: { '\u202e\u200b': 3 } } }
    expect((await one.rest(`POST ${path}`, turned)).status).toBe(400)
    expect(await kept('reaction_wall', { reactions: { '👨‍👩‍👧': 3 } })).toEqual({ reactions: { '👨‍👩‍👧': 3 } })
  })

  test('a picture here is shown by who has uploaded it, and kept as long as something shows it', async () => {
    const node = server.apps[0]?.node
    if (!node) throw new Error('There is no node')
    const _id = `media/channel/${one.account}/2_${round}.png`
    const url = addressOf(node.settings.storageUrl, _id)
    const file = { bytes: 1, content: _id, vector: _id, claim: _id, created_at: new Date() }
    await UploadRecords.create({ _id, owner: one.account, url, ...file })
    expect((await add(two, { widget_type: 'image', config: { url, alt: 'x' } })).config).toEqual({ alt: 'x' })
    expect(
      (await add(two, { widget_type: 'random_fact', config: { facts: ['a', url, 'b'], title: url } })).config,
    ).toEqual({
      facts: ['a', 'b'],
    })
    expect((await add(two, { widget_type: 'reaction_wall', config: { allowedEmojis: [url] } })).config).toEqual({
      allowedEmojis: [],
    })
    expect(await namedFiles(node, [{ _id, url }])).toEqual(new Set())
    const { id } = await add(one, { widget_type: 'image', config: { url } })
    await one.does('rest', profiles.dress, { background_type: 'image', background_value: url })
    const isKept = async () => (await namedFiles(node, [{ _id, url }])).size === 1
    expect(await isKept()).toBe(true)
    await one.does('rest', profiles.removeWidget, { id })
    expect(await isKept()).toBe(true)
    await one.does('rest', profiles.dress, { background_type: 'solid', background_value: '#000' })
    expect(await isKept()).toBe(false)
  })
})
