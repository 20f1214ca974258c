import { describe, expect, test } from 'vitest'
import { faultsOfTheme, fieldsIn, styleOf, themeIn } from '#client/web/profiles/theme-fields'
import { faultsOf, fieldsOf } from '#client/web/profiles/widget-fields'
import { shownOf } from '#client/web/profiles/widget-words'
import { defaultTheme, type ProfileTheme, themePresets } from '#shared/api/people/profile-theme'
import { type WidgetType, widgetTypes } from '#shared/api/people/profile-widgets'
import { type Rgba, rgbaOf } from '#shared/kit/css-values'

const seen = { now: Date.parse('2026-11-27T12:00:00Z'), owner: `0x${'1'.repeat(40)}` }

test('a widget to book a call leads to the calendar that it names, else to that of its owner', () => {
  const linkOf = (config: object) => shownOf({ widget_type: 'schedule', config } as never, seen)?.link?.href
  expect(linkOf({ slug: 'ada' })).toBe('/schedule/ada')
  expect(linkOf({ title: 'Book me' })).toBe(`/schedule/${seen.owner}`)
  expect(linkOf({})).toBeUndefined()
})

describe('how a profile is drawn', () => {
  const colors = [
    '#000000',
    '#ffffff',
    '#777777',
    '#ff0000',
    '#22d3ee',
    'rgba(255, 255, 255, 0.3)',
    'rgba(9, 9, 11, 0.8)',
  ]
  const backgrounds: readonly Partial<ProfileTheme>[] = [
    ...colors.slice(0, 5).map((background_value) => ({ background_value })),
    { background_type: 'gradient', background_value: 'linear-gradient(135deg, #000000, #ffffff)' },
    { background_type: 'mesh', background_value: 'radial-gradient(at center, #ff0000, transparent)' },
    { background_type: 'image', background_value: 'https://pictures.test/sky.png' },
  ]

  test('text can be read on any theme, whatever shows through its cards', () => {
    for (const background of backgrounds)
      for (const card_background of colors)
        for (const text_color of colors) {
          const theme = { ...defaultTheme, ...background, card_background, text_color }
          expect(leastContrast(theme), JSON.stringify(theme)).toBeGreaterThanOrEqual(4.49)
        }
  })

  test('a grey that can be read at both ends of a gradient would be lost in its middle: the cards let nothing through', () => {
    const background_value = 'linear-gradient(135deg, #000000, #ffffff)'
    const theme = { ...defaultTheme, background_type: 'gradient' as const, background_value, text_color: '#767676' }
    const drawn = styleOf({ ...theme, card_background: 'rgba(0, 0, 0, 0)' }, null)
    expect(drawn).toMatchObject({ '--profile-card': '#000000', '--profile-ink': '#767676' })
  })

  test('a text colour that can be read stays as it was chosen', () => {
    for (const theme of Object.values(themePresets))
      expect(styleOf(theme, null)).toMatchObject({ '--profile-ink': theme.text_color })
    const hidden = styleOf({ ...defaultTheme, text_color: '#111111' }, null)
    expect(hidden).toMatchObject({ '--profile-ink': '#ffffff' })
  })

  test('a picture of another host is not drawn, and one that is stored here is', () => {
    const theme = {
      ...defaultTheme,
      background_type: 'image' as const,
      background_value: 'https://pictures.test/sky.png',
    }
    expect(styleOf(theme, null).background).toBe('none')
    expect(styleOf(theme, '/files/media/sky.png').background).toContain('/files/media/sky.png')
  })

  test('of a gradient the form has two colours, and what is half written is refused at its field', () => {
    const theme = {
      ...defaultTheme,
      background_type: 'gradient' as const,
      background_value: 'linear-gradient(90deg, #112233, #445566)',
    }
    const fields = fieldsIn(theme)
    expect(fields).toMatchObject({ first: '#112233', last: '#445566' })
    const half = themeIn({ ...fields, first: '#11' }, fields)
    expect(faultsOfTheme(half)).toMatchObject({ first: expect.stringContaining('color') })
    const whole = themeIn({ ...fields, first: '#abcdef' }, fields)
    expect(whole.background_value).toBe('linear-gradient(135deg, #abcdef, #445566)')
    expect(faultsOfTheme(whole)).toEqual({})
    expect(faultsOfTheme(themeIn({ ...fields, background_type: 'solid' }, fields))).toEqual({})
  })

  /** The lowest contrast of the text to a card, over everything that may be behind the card. */
  function leastContrast(theme: ProfileTheme): number {
    const style = styleOf(theme, null) as Record<string, string>
    const [ink, card] = [style['--profile-ink'], style['--profile-card']].map((one) => rgbaOf(one ?? '') ?? white)
    const behind = theme.background_type === 'solid' ? [rgbaOf(theme.background_value) ?? white] : [white, black]
    const grounds = behind.map((ground) => mixed(card ?? white, ground))
    return Math.min(...grounds.map((ground) => contrast(mixed(ink ?? white, ground), ground)))
  }
})

describe('what a widget looks like', () => {
  test('an empty one of any type, or one of nonsense, is tidy', () => {
    for (const widget_type of widgetTypes)
      for (const junk of [undefined, '', 7, -1, [], [{}], [null], { a: {} }, 'x'.repeat(5_000)]) {
        const config = Object.fromEntries(fieldsOf(widget_type).map(({ name }) => [name, junk]))
        expect(() => shownOf({ widget_type, config }, seen), widget_type).not.toThrow()
      }
    expect(shownOf({ widget_type: 'of tomorrow' as WidgetType, config: { text: 'x' } }, seen)).toBeNull()
    for (const widget_type of ['text', 'link', 'clock', 'goals_checklist', 'image', 'poll', 'countdown'] as const)
      expect(shownOf({ widget_type, config: {} }, seen), widget_type).toBeNull()
  })

  test.each([
    ['countdown', { targetDate: '2026-11-29T13:30:00Z' }, { big: '2 d 1 h 30 min' }],
    ['countdown', { targetDate: '2026-11-29T13:30:00Z', showHours: false, showMinutes: false }, { big: '3 d' }],
    ['countdown', { targetDate: '2026-11-27T11:59:00Z', label: 'Now' }, { title: 'Now', big: 'It is here' }],
    ['streak_counter', { currentStreak: 1, unit: 'days' }, { big: '1 day' }],
    [
      'goals_checklist',
      { goals: [{ text: 'a', completed: true }, { text: 'b' }] },
      { meter: { share: 0.5, says: '1 of 2 done' } },
    ],
    ['spotify', { spotifyUri: 'spotify:track:4uLU6h' }, { link: { href: 'https://open.spotify.com/track/4uLU6h' } }],
    ['map', { latitude: 52.5, longitude: 13.4, city: 'Berlin' }, { title: 'Berlin' }],
    [
      'timezone_overlap',
      { timezone: 'Asia/Tokyo', workHours: { start: 20, end: 4 } },
      { lines: ['Works from 20:00 to 04:00', 'At work now'] },
    ],
    ['poll', { question: '?', endDate: '2026-12-01T00:00:00Z' }, { title: '?' }],
    ['guestbook', { messages: [{ content: 'Made up' }] }, { title: 'Guestbook' }],
    ['visitor_counter', { count: 1_000_000 }, { title: 'Visitors' }],
  ] as const)('%s of %j', (widget_type, config, looks) => {
    expect(shownOf({ widget_type, config: { ...config } }, seen)).toMatchObject(looks)
  })
})

describe('what a widget is set to', () => {
  test('every type has fields, each with a title of its own', () => {
    for (const type of widgetTypes) {
      const titles = fieldsOf(type).map(({ title }) => title)
      expect(titles.length, type).toBeGreaterThan(0)
      for (const title of titles) expect(title, type).toMatch(/^\p{Lu}/u)
      expect(new Set(titles).size, `${type}: ${titles}`).toBe(titles.length)
    }
  })

  test.each([
    ['link', { url: 'javascript:alert(1)' }, 'url'],
    ['link', { url: 'https://me@harbour.test/' }, 'url'],
    ['social_link', { platform: 'github', url: 'https://github.example/me' }, 'url'],
    ['color_palette', { colors: [{ hex: '#fff' }, { hex: 'blueish' }] }, 'colors.1.hex'],
    ['languages', { languages: [{ code: 'English' }] }, 'languages.0.code'],
    ['map', { latitude: 91 }, 'latitude'],
    ['availability_status', { schedule: { workHours: { start: 9, end: 25 } } }, 'schedule.workHours.end'],
    ['text', { text: 'x'.repeat(1_001) }, 'text'],
    ['tip_jar', { amounts: [5, 'many'] }, 'amounts.1'],
  ] as const)('%s of %j is refused at its field', (type, config, path) => {
    expect(Object.keys(faultsOf(type, config))).toEqual([path])
  })

  test('what the server keeps is refused nowhere', () => {
    expect(faultsOf('link', { url: 'https://harbour.test/', icon: '⚓', title: 'x'.repeat(100) })).toEqual({})
    expect(faultsOf('social_link', { platform: 'github', url: 'https://github.com/me' })).toEqual({})
  })
})

const white: Rgba = [255, 255, 255, 1]
const black: Rgba = [0, 0, 0, 1]
const mixed = (top: Rgba, below: Rgba): Rgba => {
  const at = (part: 0 | 1 | 2) => top[part] * top[3] + below[part] * (1 - top[3])
  return [at(0), at(1), at(2), 1]
}
/** WCAG 2.2: relative luminance, and the ratio of two. */
function contrast(one: Rgba, other: Rgba): number {
  const luminance = (color: Rgba) =>
    [0.2126, 0.7152, 0.0722].reduce((sum, weight, at) => {
      const part = (color[at] ?? 0) / 255
      return sum + weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    }, 0)
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}
