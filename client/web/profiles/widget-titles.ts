import { kindOfWidget, type WidgetCategory, type WidgetType, widgetTypes } from '#shared/api/people/profile-widgets'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'

/** The sign of each type. */
export const widgetSigns: Readonly<Record<WidgetType, string>> = {
  text: '✍️',
  link: '🔗',
  social_link: '👋',
  currently: '📖',
  goals_checklist: '✅',
  stats: '🔢',
  languages: '🗣️',
  countdown: '⏳',
  tech_stack: '🧰',
  image: '🖼️',
  message_me: '💬',
  wallet: '👛',
  schedule: '📅',
  agent: '🤖',
  map: '📍',
  weather: '🌤️',
  clock: '🕰️',
  timezone_overlap: '🌍',
  video: '▶️',
  spotify: '🎵',
  github: '🐙',
  social_embed: '🗨️',
  nft: '🎴',
  tip_jar: '🫙',
  poll: '📊',
  guestbook: '📔',
  reaction_wall: '🎉',
  pet: '🐾',
  fortune_cookie: '🥠',
  photo_carousel: '🎞️',
  mood_board: '🧷',
  color_palette: '🎨',
  vinyl_record: '💿',
  polaroid_stack: '📸',
  zodiac: '♈',
  bookshelf: '📚',
  game_now_playing: '🎮',
  movie_queue: '🎬',
  podcast_favorites: '🎙️',
  availability_status: '🟢',
  streak_counter: '🔥',
  fun_counter: '🧮',
  visitor_counter: '👣',
  random_fact: '💡',
}

/** The types of a category, the plainest first, as they stand above. */
export const typesIn = (category: WidgetCategory): WidgetType[] =>
  (Object.keys(widgetSigns) as WidgetType[]).filter((type) => kindOfWidget(type).category === category)

export const isKnownType = (type: string): type is WidgetType => (widgetTypes as readonly string[]).includes(type)
export const titleOfWidget = (type: WidgetType): string => t.types[type] ?? t.title

export const titleOfField = (type: WidgetType, name: string): string => {
  const [titles, titlesIn]: Readonly<Record<string, string>>[] = [t.fields, t.fieldsOf]
  return titlesIn?.[`${type}.${name}`] ?? titles?.[name] ?? name
}

/** What a new widget is set to before anybody has said anything of it. */
export function begun(type: WidgetType, account: string): Record<string, unknown> {
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()
  const beginnings: { readonly [Type in WidgetType]?: Record<string, unknown> } = {
    message_me: { address: account },
    wallet: { address: account },
    tip_jar: { address: account },
    clock: { timezone },
    timezone_overlap: { timezone, showWorkHours: true, workHours: { start: 9, end: 17 } },
    availability_status: { status: 'available' },
    currently: { type: 'reading' },
    social_link: { platform: 'website' },
    video: { platform: 'youtube' },
    pet: { petType: 'cat' },
    zodiac: { sign: 'aries' },
    countdown: { showDays: true, showHours: true, showMinutes: true },
  }
  return beginnings[type] ?? {}
}
