import { z } from 'zod'
import { Id, Time } from '#shared/kit/primitives'
import { isOfHost } from '#shared/kit/web-address'
import {
  account,
  choice,
  color,
  contract,
  counts,
  flag,
  icon,
  id,
  item,
  language,
  list,
  listOf,
  moment,
  number,
  picture,
  prose,
  short,
  sign,
  spotify,
  user,
  videoId,
  web,
  whole,
  words,
  zone,
} from './widget-fields.ts'

const widgetSizes = ['1x1', '2x1', '1x2', '2x2', '4x1', '4x2'] as const
export type WidgetSize = (typeof widgetSizes)[number]
export const widgetCategories = [
  ...(['service', 'personal', 'social', 'location', 'media', 'aesthetic', 'entertainment'] as const),
  ...(['productivity', 'interactive', 'utility', 'fun', 'web3'] as const),
]
export type WidgetCategory = (typeof widgetCategories)[number]

interface WidgetKind {
  category: WidgetCategory
  /** Those it may have. */
  sizes: readonly WidgetSize[]
  usual: WidgetSize
  /** What it is set to. Fields that it does not name are left out. */
  config: z.ZodObject
}

const kind = (category: WidgetCategory, sizes: string, usual: WidgetSize, shape: z.ZodRawShape): WidgetKind => ({
  category,
  sizes: widgetSizes.filter((size) => sizes.split(' ').includes(size)),
  usual,
  config: z.object(shape),
})

const hours = z.object({ start: number(0, 24), end: number(0, 24) }).optional()
const rating = number(0, 10)

/** Every type of widget: where a person finds it, the sizes it may have, and what it is set to. */
export const widgetKinds = {
  message_me: kind('service', '1x1 2x1 2x2', '2x1', {
    address: account,
    title: short,
    subtitle: words,
    showAvatar: flag,
  }),
  wallet: kind('service', '1x1 2x1 2x2', '2x1', {
    address: account,
    label: short,
    showBalance: flag,
    copyEnabled: flag,
  }),
  schedule: kind('service', '1x1 2x1 2x2', '2x1', { slug: user, title: short, subtitle: words, avatarUrl: picture }),
  agent: kind('service', '1x1 2x1 2x2', '1x1', {
    ...{ agentId: id, name: short, personality: words, avatarEmoji: sign, avatarUrl: picture },
  }),
  social_link: kind('service', '1x1 2x1', '1x1', {
    platform: choice(
      ...(['twitter', 'x', 'github', 'linkedin', 'instagram', 'youtube'] as const),
      ...(['tiktok', 'discord', 'telegram', 'farcaster', 'website'] as const),
    ),
    ...{ handle: short, url: web },
  }),
  map: kind('location', '1x1 2x1 2x2 4x1 4x2', '2x2', {
    ...{ latitude: number(-90, 90), longitude: number(-180, 180), city: short, country: short, zoom: whole(0, 22) },
    ...{ style: choice('streets', 'satellite', 'dark', 'light'), label: short },
  }),
  weather: kind('location', '1x1 2x1', '1x1', { city: short, country: short, units: choice('celsius', 'fahrenheit') }),
  clock: kind('location', '1x1 2x1', '1x1', { timezone: zone, label: short, format: choice('12h', '24h') }),
  timezone_overlap: kind('productivity', '1x1 2x1 2x2', '2x1', {
    ...{ timezone: zone, label: short, showWorkHours: flag, workHours: hours },
  }),
  image: kind('media', '1x1 2x1 1x2 2x2 4x1 4x2', '2x2', {
    ...{ url: picture, alt: words, fit: choice('cover', 'contain', 'fill'), link: web, caption: words },
  }),
  video: kind('media', '2x1 2x2 4x2', '2x2', {
    ...{ platform: choice('youtube', 'vimeo', 'loom'), videoId, autoplay: flag, muted: flag },
  }),
  spotify: kind('media', '2x1 2x2 4x1', '2x1', {
    ...{ type: choice('track', 'playlist', 'album', 'artist'), spotifyUri: spotify, theme: choice('dark', 'light') },
  }),
  github: kind('social', '2x1 2x2 4x1 4x2', '4x1', {
    ...{ username: user, type: choice('contributions', 'repos', 'profile'), showStats: flag },
  }),
  social_embed: kind('social', '2x2 4x2', '2x2', {
    platform: choice('twitter', 'x', 'instagram', 'tiktok', 'linkedin', 'mastodon'),
    ...{ embedUrl: web, postId: user },
  }),
  link: kind('social', '1x1 2x1 2x2', '2x1', { url: web, title: short, description: words, icon, showPreview: flag }),
  nft: kind('web3', '1x1 2x1 1x2 2x2', '1x1', {
    ...{ contractAddress: contract, tokenId: short, chain: choice('ethereum', 'polygon', 'base', 'optimism') },
    ...{ showDetails: flag, imageUrl: picture, name: short, collection: short },
  }),
  tip_jar: kind('web3', '1x1 2x1 2x2', '2x1', {
    ...{ address: account, tokens: list(z.enum(['ETH', 'USDC', 'USDT'])), message: words },
    amounts: list(z.number().min(0).max(1_000_000)),
  }),
  poll: kind('interactive', '2x1 2x2', '2x2', {
    ...{ question: words, options: listOf({ id, text: short, votes: whole(0, 1_000_000_000) }) },
    ...{ allowMultiple: flag, showResults: flag, endDate: moment },
  }),
  guestbook: kind('interactive', '2x2 4x2', '2x2', {
    ...{ title: short, maxMessages: whole(0, 1_000) },
    messages: listOf({ id, author: short, authorAddress: account, content: words, timestamp: moment, emoji: sign }),
  }),
  reaction_wall: kind('interactive', '1x1 2x1 2x2', '2x1', {
    ...{ allowedEmojis: list(item), reactions: counts, maxReactions: whole(0, 1_000_000_000) },
  }),
  pet: kind('interactive', '1x1 2x1 2x2', '1x1', {
    petType: choice('cat', 'dog', 'hamster', 'bird', 'fish', 'alien', 'robot', 'ghost'),
    ...{ name: short, mood: choice('happy', 'sleepy', 'hungry', 'playful', 'excited'), color },
  }),
  fortune_cookie: kind('interactive', '1x1 2x1 2x2', '2x1', {
    fortunes: list(item),
    ...{ category: choice('wisdom', 'funny', 'motivation', 'tech', 'custom'), showDaily: flag },
  }),
  photo_carousel: kind('aesthetic', '2x1 2x2 4x2', '2x2', {
    images: listOf({ url: picture, caption: words }),
    ...{ autoPlay: flag, interval: number(1, 600), showDots: flag, showArrows: flag },
  }),
  mood_board: kind('aesthetic', '2x2 4x2', '2x2', {
    images: listOf({ url: picture, size: choice('small', 'medium', 'large') }),
    ...{ title: short, gap: number(0, 64) },
  }),
  color_palette: kind('aesthetic', '2x1 4x1', '2x1', {
    ...{ colors: listOf({ hex: color, name: short }), title: short, showHex: flag },
  }),
  vinyl_record: kind('aesthetic', '1x1 2x2', '2x2', {
    ...{ albumArt: picture, albumName: short, artistName: short, isSpinning: flag, spotifyUrl: web },
  }),
  polaroid_stack: kind('aesthetic', '2x2 4x2', '2x2', {
    photos: listOf({ url: picture, caption: words, rotation: number(-180, 180) }),
    spread: choice('tight', 'loose', 'scattered'),
  }),
  zodiac: kind('aesthetic', '1x1 2x1', '1x1', {
    sign: choice(
      ...(['aries', 'taurus', 'gemini', 'cancer', 'leo', 'virgo'] as const),
      ...(['libra', 'scorpio', 'sagittarius', 'capricorn', 'aquarius', 'pisces'] as const),
    ),
    ...{ showTraits: flag, showDates: flag },
  }),
  bookshelf: kind('entertainment', '2x1 2x2 4x1 4x2', '2x2', {
    books: listOf({
      ...{ title: short, author: short, coverUrl: picture, rating },
      status: choice('reading', 'finished', 'want_to_read'),
    }),
    title: short,
  }),
  game_now_playing: kind('entertainment', '2x1 2x2', '2x1', {
    ...{ gameName: short, coverUrl: picture, platform: choice('pc', 'playstation', 'xbox', 'nintendo', 'mobile') },
    ...{ hoursPlayed: number(0, 1_000_000), achievement: words },
  }),
  movie_queue: kind('entertainment', '2x1 2x2 4x2', '2x2', {
    items: listOf({
      ...{ title: short, posterUrl: picture, type: choice('movie', 'show'), rating },
      status: choice('watching', 'finished', 'want_to_watch'),
    }),
    title: short,
  }),
  podcast_favorites: kind('entertainment', '2x1 2x2 4x1', '2x1', {
    podcasts: listOf({ name: short, coverUrl: picture, latestEpisode: short, spotifyUrl: web }),
  }),
  availability_status: kind('productivity', '1x1 2x1', '2x1', {
    ...{ status: choice('available', 'busy', 'away', 'dnd', 'offline'), customMessage: words, showSchedule: flag },
    schedule: z.object({ timezone: zone, workHours: hours }).optional(),
  }),
  streak_counter: kind('productivity', '1x1 2x1', '2x1', {
    ...{ label: short, currentStreak: whole(0, 1_000_000), longestStreak: whole(0, 1_000_000) },
    ...{ unit: choice('days', 'weeks', 'commits', 'workouts', 'custom'), emoji: sign, startDate: moment },
  }),
  goals_checklist: kind('productivity', '2x1 2x2', '2x2', {
    ...{ title: short, goals: listOf({ id, text: words, completed: flag, emoji: sign }), showProgress: flag },
  }),
  text: kind('personal', '1x1 2x1 2x2 4x1', '2x1', {
    ...{ text: prose, style: choice('quote', 'heading', 'body', 'highlight') },
    ...{ alignment: choice('left', 'center', 'right'), fontSize: choice('sm', 'md', 'lg', 'xl'), emoji: sign },
  }),
  countdown: kind('utility', '1x1 2x1 2x2', '2x1', {
    ...{ targetDate: moment, label: short, emoji: sign, showDays: flag, showHours: flag, showMinutes: flag },
  }),
  stats: kind('personal', '2x1 2x2 4x1', '2x1', {
    stats: listOf({ label: short, value: z.union([item, z.number()]).optional(), emoji: sign }),
    layout: choice('row', 'grid'),
  }),
  tech_stack: kind('personal', '2x1 2x2 4x1', '2x1', {
    ...{ technologies: listOf({ name: short, icon, color }), label: short },
  }),
  currently: kind('personal', '1x1 2x1 2x2', '2x1', {
    type: choice('reading', 'playing', 'watching', 'building', 'learning', 'listening'),
    ...{ title: short, subtitle: words, imageUrl: picture, link: web },
  }),
  fun_counter: kind('fun', '1x1 2x1', '1x1', {
    ...{ label: short, count: number(-1_000_000_000, 1_000_000_000), emoji: sign, unit: short, incrementable: flag },
  }),
  visitor_counter: kind('fun', '1x1 2x1', '2x1', {
    ...{ style: choice('retro', 'modern', 'minimal'), count: whole(0, 1_000_000_000), label: short },
  }),
  random_fact: kind('fun', '2x1 2x2', '2x1', {
    ...{ facts: list(item), title: short, refreshable: flag },
  }),
  languages: kind('fun', '1x1 2x1 2x2', '2x1', {
    languages: listOf({
      ...{ code: language, name: short },
      proficiency: choice('native', 'fluent', 'conversational', 'learning'),
    }),
    showFlags: flag,
  }),
} as const satisfies Readonly<Record<string, WidgetKind>>

export type WidgetType = keyof typeof widgetKinds
export const widgetTypes = Object.keys(widgetKinds) as [WidgetType, ...WidgetType[]]
export const kindOfWidget = (type: WidgetType): WidgetKind => widgetKinds[type]

const hostsOf: Readonly<Record<string, readonly string[]>> = {
  twitter: ['twitter.com', 'x.com'],
  x: ['x.com', 'twitter.com'],
  github: ['github.com'],
  linkedin: ['linkedin.com'],
  instagram: ['instagram.com'],
  youtube: ['youtube.com', 'youtu.be'],
  tiktok: ['tiktok.com'],
  discord: ['discord.com', 'discord.gg'],
  telegram: ['t.me', 'telegram.me'],
  farcaster: ['farcaster.xyz', 'warpcast.com'],
}

type Config = { readonly [field: string]: unknown }

/** A link that says it leads to a platform leads there, or nowhere. */
function withoutFalseLink({ url, ...config }: Config): Config {
  if (typeof url !== 'string') return config
  const hosts = hostsOf[String(config.platform)] ?? []
  const leads = config.platform === 'website' || hosts.some((host) => isOfHost(url, host))
  return leads ? { ...config, url } : config
}

/** The settings of a widget of this type, without unknown fields and invalid addresses. */
export const WidgetConfig = (type: WidgetType) =>
  kindOfWidget(type).config.transform((config) => (type === 'social_link' ? withoutFalseLink(config) : config))

/** Widgets of one profile. */
export const widgetsAtMost = 50
/** Of one widget, as JSON. */
export const configBytes = 8_192
/** Of all widgets of a profile together. */
export const pageBytes = 98_304

const Type = z.enum(widgetTypes, { error: 'Unknown widget_type' })
const Size = z.enum(widgetSizes, { error: 'Unknown size' })
const Given = z.record(z.string().max(64), z.unknown())

/** The fields of a widget. Omitted fields of a new one get their defaults. */
export const widgetFields = {
  size: Size.optional(),
  position: z.number().int().min(0).max(10_000).optional(),
  config: Given.optional(),
  is_visible: z.boolean().optional(),
}
/** Where both names of its type are given, `widget_type` holds. */
export const typeFields = { widget_type: Type.optional(), type: Type.optional() }

export const NewWidget = z
  .object({ ...widgetFields, ...typeFields })
  .refine(({ widget_type, type }) => widget_type ?? type, { error: 'widget_type is required', path: ['widget_type'] })
export const ChangedWidget = z.object({ id: Id, ...widgetFields, ...typeFields })
export type GivenWidget = z.output<typeof NewWidget>
export type ChangedWidget = z.output<typeof ChangedWidget>

export const Widget = z.object({
  id: z.string(),
  user_address: z.string(),
  widget_type: z.enum(widgetTypes),
  /** The same as `widget_type`. */
  type: z.enum(widgetTypes),
  size: z.enum(widgetSizes),
  position: z.number(),
  is_visible: z.boolean(),
  config: z.record(z.string(), z.unknown()),
  created_at: Time,
  updated_at: Time,
})
export type Widget = z.output<typeof Widget>
