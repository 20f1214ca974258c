// Modes: embedded
import { beforeEach, describe, expect, test } from 'vitest'
import { UploadRecords } from '#server/domains/media/files/model'
import { namedFiles } from '#server/domains/media/files/removal'
import { ProfilePages } from '#server/domains/people/profiles/model'
import { addressOf } from '#server/ports/storage/port'
import { defaultTheme, themePresets } from '#shared/api/people/profile-theme'
import { profiles } from '#shared/api/people/profiles'
import { bootWith } from '#test/support/boot-with'
import { over, type Person, people } from '#test/support/people'
import { call, wallet } from '#test/support/wallet'

const path = '/api/profile/theme'
let one: Person
let two: Person
let round = 0

const { server, admin } = await bootWith(['admin'], { admins: ['admin'] })
beforeEach(async () => {
  round += 1
  ;[one, two] = await people(server, `dressed ${round}`, `looking ${round}`)
})

const dress = (who: Person, fields: object) => who.does('rest', profiles.dress, fields)
const themeOf = (whose: Person) => call(server.url, `GET ${path}?address=${whose.account}`)

describe('the theme of a profile', () => {
  test.each(over)('over %s: what is saved is shown to everybody, and what is left out stays', async (door) => {
    expect(await one.does(door, profiles.theme, {})).toMatchObject({ ...defaultTheme, theme: null })
    const saved = await one.does(door, profiles.dress, {
      accent_color: '#0AF',
      card_style: 'pill',
      background_effect: 'snow',
    })
    const drawn = { ...defaultTheme, accent_color: '#00aaff', card_style: 'pill', background_effect: 'snow' }
    expect(saved).toMatchObject({ success: true, ...drawn, theme: { ...drawn, user_address: one.account } })
    await one.does(door, profiles.dress, { secondary_color: 'rgb(1,2,3)', card_border: null, show_spritz_badge: false })
    const then = { ...drawn, secondary_color: '#010203', card_border: null, show_spritz_badge: false }
    expect(await two.does(door, profiles.theme, { address: one.account })).toMatchObject({ ...then, theme: then })
    expect((await themeOf(one)).body).toMatchObject({ ...then, theme: { ...then, created_at: saved.theme.created_at } })
    await one.does(door, profiles.dress, { secondary_color: null, background_effect: null })
    expect(await one.does(door, profiles.theme, {})).toMatchObject({ secondary_color: null, background_effect: 'none' })
  })

  test('PUT is another spelling of POST', async () => {
    const { status, body } = await one.rest(`PUT ${path}`, { text_color: '#123456' })
    expect({ status, body }).toMatchObject({ status: 200, body: { success: true, theme: { text_color: '#123456' } } })
  })

  test.each(Object.entries(themePresets))('the preset %s can be saved as it is', async (_name, preset) => {
    expect(await dress(one, preset)).toMatchObject(preset)
  })

  test.each(over)(
    'over %s: nobody changes the theme of another, and without a session an address is asked for',
    async (door) => {
      expect(await two.refused(door, profiles.dress, { address: one.account, text_color: '#000' })).toMatchObject({
        status: 403,
      })
      expect((await call(server.url, `GET ${path}`)).status).toBe(400)
      expect((await call(server.url, `POST ${path}`, { text_color: '#000000' })).status).toBe(401)
      expect((await call(server.url, `GET ${path}?address=${wallet('nobody at all').address}`)).body).toMatchObject({
        theme: null,
        ...defaultTheme,
      })
    },
  )

  const injected = [
    'red;background:url(https://evil.test/)',
    'url(https://evil.test/x)',
    'expression(alert(1))',
    'var(--accent)',
    '#fff}body{display:none',
    '</style><script>alert(1)</script>',
    '#fff/**/',
    'linear-gradient(#fff,#000)',
  ]
  test.each(['accent_color', 'secondary_color', 'text_color', 'card_background', 'card_border'])(
    'T83: CSS in %s is refused',
    async (field) => {
      for (const value of injected) expect((await one.rest(`POST ${path}`, { [field]: value })).status, value).toBe(400)
      expect((await themeOf(one)).body.theme).toBe(null)
    },
  )

  test.each([
    ['solid', 'linear-gradient(#fff,#000)'],
    ['solid', 'url(https://evil.test/x)'],
    ['gradient', '#ffffff'],
    ['gradient', 'linear-gradient(#fff,#000),url(https://evil.test/x)'],
    ['mesh', 'radial-gradient(#fff,#000);color:red'],
    ['image', 'http://evil.test/x.png'],
    ['image', 'javascript:alert(1)'],
    ['image', 'data:image/svg+xml,<svg onload=alert(1)>'],
    ['image', 'https://name:word@evil.test/x.png'],
    ['image', '/files/x.png'],
  ])('a background of type %s is never %s', async (background_type, background_value) => {
    const { status, body } = await one.rest(`POST ${path}`, { background_type, background_value })
    expect({ status, body }).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^background_value/) } })
  })

  test('a type and a value fit each other, whichever of them is given', async () => {
    expect((await one.rest(`POST ${path}`, { background_type: 'gradient' })).status).toBe(400)
    await dress(one, { background_type: 'mesh', background_value: 'radial-gradient(#fff,#000)' })
    expect((await one.rest(`POST ${path}`, { background_value: '#fff' })).status).toBe(400)
    await dress(one, { background_type: 'gradient' })
    expect((await themeOf(one)).body).toMatchObject({ background_value: 'radial-gradient(#ffffff, #000000)' })
  })

  test('what can be saved can be changed, and no longer than what is taken', async () => {
    const wide = `radial-gradient(ellipse at bottom right, ${[0, 1, 2, 3, 4, 5, 6, 7].map((at) => `#fff1 9${at}.1234%`).join(', ')})`
    const mesh = (count: number) => ({ background_type: 'mesh', background_value: Array(count).fill(wide).join(', ') })
    expect((await one.rest(`POST ${path}`, mesh(6))).status).toBe(400)
    expect((await one.rest(`POST ${path}`, mesh(5))).status).toBe(200)
    expect((await one.rest(`POST ${path}`, { accent_color: '#123456' })).status).toBe(200)
  })

  test('T83: what an address could end a declaration with is never stored', async () => {
    const given = { background_type: 'image', background_value: 'https://pictures.test/a") , url("https://evil.test' }
    expect((await one.rest(`POST ${path}`, given)).status).toBe(400)
    expect((await themeOf(one)).body.theme).toBe(null)
  })

  test('T83: styles of their own are not stored', async () => {
    await dress(one, { custom_css: 'body{display:none}', font_family: 'mono', toString: 'x' })
    expect(JSON.stringify(await ProfilePages.findOne({ _id: one.account }).lean())).not.toMatch(/custom_css|display/)
    expect((await themeOf(one)).body).not.toHaveProperty('custom_css')
  })

  test('a picture here is shown by who has uploaded it, and kept as long as it is shown', async () => {
    const node = server.apps[0]?.node
    if (!node) throw new Error('There is no node')
    const key = `media/channel/${one.account}/1_${round}.png`
    const url = addressOf(node.settings.storageUrl, key)
    const file = { bytes: 1, content: key, vector: key, claim: key, created_at: new Date() }
    await UploadRecords.create({ _id: key, owner: one.account, url, ...file })
    const image = { background_type: 'image', background_value: url } as const
    expect((await two.rest(`POST ${path}`, image)).status).toBe(400)
    await dress(one, image)
    const record = { _id: key, url }
    expect([...(await namedFiles(node, [record]))]).toEqual([key])
    await dress(one, themePresets.ocean)
    expect([...(await namedFiles(node, [record]))]).toEqual([])
  })

  test('a suspended account shows nothing to others', async () => {
    await dress(one, themePresets.ocean)
    const ban = (on: boolean) => admin.rest('POST /api/admin/ban', { userAddress: one.account, ban: on })
    await ban(true)
    expect((await themeOf(one)).body).toMatchObject({ theme: null, ...defaultTheme })
    await ban(false)
    expect((await themeOf(one)).body).toMatchObject(themePresets.ocean)
  })

  test('of many changes at once none is lost', async () => {
    const changes = [
      ...[{ accent_color: '#111111' }, { text_color: '#222222' }, { card_style: 'sharp' }, { font_family: 'serif' }],
      ...[
        { card_border: null },
        { background_effect: 'stars' },
        { show_spritz_badge: false },
        { secondary_color: '#333333' },
      ],
    ]
    await Promise.all(changes.map((change) => dress(one, change)))
    expect((await themeOf(one)).body).toMatchObject(Object.assign({}, ...changes))
  })
})
