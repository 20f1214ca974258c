import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { colorOf, gradientsLength, gradientsOf } from '#shared/kit/css-values'
import { Address, CallerAddress, Done, nameLine, OneEmoji, Time } from '#shared/kit/primitives'

export const backgroundTypes = ['solid', 'gradient', 'image', 'mesh'] as const
export const cardStyles = ['rounded', 'sharp', 'pill'] as const
export const fonts = ['system', 'inter', 'mono', 'serif'] as const
export const effects = ['none', 'sparkles', 'stars', 'particles', 'bubbles', 'snow'] as const
export type BackgroundType = (typeof backgroundTypes)[number]

const notAColor = { error: 'Not a colour: #rrggbb, rgb(), rgba(), hsl(), hsla() or transparent' }
/** Written anew as `#rrggbb`, or as `rgba()` where something shines through. */
const Color = z
  .string()
  .max(100, notAColor)
  .overwrite((value) => colorOf(value) ?? value)
  .regex(/^(?:#[0-9a-fA-F]{3,8}|transparent|(?:rgb|hsl)a?\([\d.,%\s-]+\))$/i, notAColor)
  .refine((value) => colorOf(value) !== null, notAColor)

export const presetNames = ['dark', 'midnight', 'sunset', 'ocean', 'forest', 'light'] as const

const color = Color.optional()
/** The colours of a theme by the names that clients of the older SDK use. */
const colors = { background: color, accent: color, secondary: color, text: color, card: color, border: color }

/** The fields of a theme as they are given; null clears what may be absent. */
export const themeFields = {
  /** A preset, over which the other fields are laid. */
  theme_id: z.enum(presetNames, { error: `theme_id: one of ${presetNames.join(', ')}` }).optional(),
  colors: z
    .strictObject({ ...colors, primary: color }, { error: `colors: only ${Object.keys(colors).join(', ')}` })
    .optional(),
  background_type: z.enum(backgroundTypes).optional(),
  /** A colour, gradients of colours, or the https address of a picture, as the type says. */
  background_value: z.string().trim().min(1).max(gradientsLength).optional(),
  accent_color: Color.optional(),
  secondary_color: Color.nullish(),
  text_color: Color.optional(),
  card_style: z.enum(cardStyles).optional(),
  card_background: Color.optional(),
  card_border: Color.nullish(),
  font_family: z.enum(fonts).optional(),
  show_spritz_badge: z.boolean().optional(),
  background_effect: z.enum(effects).nullish(),
}
export const GivenTheme = z.object(themeFields)
export type GivenTheme = z.output<typeof GivenTheme>

export const ProfileTheme = z.object({
  background_type: z.enum(backgroundTypes),
  background_value: z.string(),
  accent_color: z.string(),
  secondary_color: z.string().nullable(),
  text_color: z.string(),
  card_style: z.enum(cardStyles),
  card_background: z.string(),
  card_border: z.string().nullable(),
  font_family: z.enum(fonts),
  show_spritz_badge: z.boolean(),
  background_effect: z.enum(effects),
})
export type ProfileTheme = z.output<typeof ProfileTheme>

/** The same as clients of the older SDK read it: the preset that it is, if any, and its colours. */
export const NamedTheme = ProfileTheme.extend({
  theme_id: z.enum(presetNames).nullable(),
  colors: z.object({
    background: z.string().nullable(),
    accent: z.string(),
    secondary: z.string().nullable(),
    text: z.string(),
    card: z.string(),
    border: z.string().nullable(),
  }),
})

export const ThemeRecord = ProfileTheme.extend({ user_address: z.string(), created_at: Time, updated_at: Time })

export const defaultTheme: ProfileTheme = {
  background_type: 'solid',
  background_value: '#09090b',
  accent_color: '#f97316',
  secondary_color: null,
  text_color: '#ffffff',
  card_style: 'rounded',
  card_background: 'rgba(24, 24, 27, 0.8)',
  card_border: 'rgba(63, 63, 70, 0.5)',
  font_family: 'system',
  show_spritz_badge: true,
  background_effect: 'none',
}

const gradient = (from: string, middle: string, to: string) => ({
  background_type: 'gradient' as const,
  background_value: `linear-gradient(135deg, ${from} 0%, ${middle} 50%, ${to} 100%)`,
})
const preset = (own: Partial<ProfileTheme>): ProfileTheme => ({ ...defaultTheme, ...own })

/** Themes to begin with. */
export const themePresets = {
  dark: defaultTheme,
  midnight: preset({
    ...gradient('#0f0f23', '#1a1a2e', '#16213e'),
    accent_color: '#6366f1',
    card_background: 'rgba(30, 30, 46, 0.8)',
    card_border: 'rgba(99, 102, 241, 0.2)',
  }),
  sunset: preset({
    ...gradient('#1a1a2e', '#2d1b3d', '#1f1135'),
    accent_color: '#f472b6',
    secondary_color: '#fb923c',
    card_background: 'rgba(45, 27, 61, 0.8)',
    card_border: 'rgba(244, 114, 182, 0.2)',
  }),
  ocean: preset({
    ...gradient('#0c1929', '#0f2744', '#0a1628'),
    accent_color: '#22d3ee',
    card_background: 'rgba(15, 39, 68, 0.8)',
    card_border: 'rgba(34, 211, 238, 0.2)',
  }),
  forest: preset({
    ...gradient('#0d1f0d', '#1a2f1a', '#0f1f0f'),
    accent_color: '#4ade80',
    card_background: 'rgba(26, 47, 26, 0.8)',
    card_border: 'rgba(74, 222, 128, 0.2)',
  }),
  light: preset({
    background_value: '#fafafa',
    text_color: '#18181b',
    card_background: 'rgba(255, 255, 255, 0.9)',
    card_border: 'rgba(228, 228, 231, 0.8)',
  }),
} as const satisfies Readonly<Record<(typeof presetNames)[number], ProfileTheme>>

/** What a background of this type may be, written anew; null where the value is none. That of an image is an address, which the server judges. */
export const drawnBackground = (type: BackgroundType, value: string): string | null =>
  type === 'solid' ? colorOf(value) : type === 'image' ? value : gradientsOf(value)

/** Code points of the words of a tag. */
export const tagLength = 30

/** A private tag on a friend: words, an emoji or both, with or without a colour. */
export const FriendTag = z.object({
  id: z.string(),
  /** Whose tag it is. */
  user_address: z.string(),
  friend_address: z.string(),
  tag: z.string().nullable(),
  emoji: z.string().nullable(),
  color: z.string().nullable(),
  created_at: Time,
  updated_at: Time,
})
export type FriendTag = z.output<typeof FriendTag>

export const friendTags = {
  tags: operation({
    summary: 'The tags that the caller has put on friends, the newest change first; nobody else is ever told.',
    http: 'GET /api/friends/tags',
    socket: '/notifications friend-tag:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ userAddress: CallerAddress }),
    output: z.object({ tags: z.array(FriendTag) }),
  }),
  tag: operation({
    summary:
      'Put a tag on a friend, in the place of the one before; what is left out is none. Without words and emoji it is taken away.',
    http: 'PUT /api/friends/tags',
    socket: '/notifications friend-tag:write',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({
      userAddress: CallerAddress,
      friendAddress: Address,
      tag: nameLine(0, tagLength).nullish(),
      emoji: z.literal('').or(OneEmoji).nullish(),
      color: z.literal('').or(Color).nullish(),
    }),
    output: z.object({ success: z.literal(true), tag: FriendTag.nullable() }),
    errors: ['NOT_FOUND'],
  }),
  untag: operation({
    summary: 'Take the tag off a friend; one that is not there is off already.',
    http: 'DELETE /api/friends/tags',
    socket: '/notifications friend-tag:remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'withdraws',
    input: z.object({ userAddress: CallerAddress, friendAddress: Address }),
    output: Done,
  }),
}

export const friendTagChanged = event('/notifications friend-tag:changed', {
  summary: 'You have changed the tag of a friend, on this device or another; null where there is none now.',
  audience: 'account',
  payload: z.object({ friend_address: z.string(), tag: FriendTag.nullable() }),
})
