import {
  kindOfWidget,
  type WidgetCategory,
  type WidgetSize,
  type WidgetType,
  widgetTypes,
} from '#shared/api/people/profile-widgets'
import { capital } from './shown.ts'

/** What each type is called, and what it shows. */
export const widgetTitles: Readonly<Record<WidgetType, readonly [sign: string, title: string, hint: string]>> = {
  text: ['✍️', 'Text', 'A few words, a heading or a quote'],
  link: ['🔗', 'Link', 'A page that is worth a visit'],
  social_link: ['👋', 'Elsewhere', 'Your account at another place'],
  currently: ['📖', 'Currently', 'What you read, play, watch or build'],
  goals_checklist: ['✅', 'Goals', 'A list to tick off'],
  stats: ['🔢', 'Numbers', 'Numbers that say something of you'],
  languages: ['🗣️', 'Languages', 'Which you speak, and how well'],
  countdown: ['⏳', 'Countdown', 'How long it is until a day'],
  tech_stack: ['🧰', 'Tools', 'What you work with'],
  image: ['🖼️', 'Picture', 'One picture, with a caption'],
  message_me: ['💬', 'Write to me', 'A button that opens a conversation'],
  wallet: ['👛', 'Wallet', 'An address that can be copied'],
  schedule: ['📅', 'Book a call', 'A word on when you can be called'],
  agent: ['🤖', 'Agent', 'An agent that others may ask'],
  map: ['📍', 'Map', 'A place, with a link to the map'],
  weather: ['🌤️', 'Weather', 'A link to the weather of a place'],
  clock: ['🕰️', 'Clock', 'The time of a place'],
  timezone_overlap: ['🌍', 'Time zone', 'Your time, and when you work'],
  video: ['▶️', 'Video', 'A link to a film'],
  spotify: ['🎵', 'Music', 'A link to a song, an album or a list'],
  github: ['🐙', 'GitHub', 'A link to your code'],
  social_embed: ['🗨️', 'Post', 'A link to a post elsewhere'],
  nft: ['🎴', 'NFT', 'A token, by its contract'],
  tip_jar: ['🫙', 'Tip jar', 'Where a tip can be sent'],
  poll: ['📊', 'Poll', 'A question with its answers'],
  guestbook: ['📔', 'Guestbook', 'What guests have said'],
  reaction_wall: ['🎉', 'Reactions', 'Emoji, with how often each was given'],
  pet: ['🐾', 'Pet', 'A small companion'],
  fortune_cookie: ['🥠', 'Fortune cookie', 'One of several sayings'],
  photo_carousel: ['🎞️', 'Photos', 'Several pictures in a row'],
  mood_board: ['🧷', 'Mood board', 'Pictures that go together'],
  color_palette: ['🎨', 'Colours', 'Colours that you like'],
  vinyl_record: ['💿', 'Record', 'An album'],
  polaroid_stack: ['📸', 'Snapshots', 'A few photos with captions'],
  zodiac: ['♈', 'Star sign', 'Yours, with its dates'],
  bookshelf: ['📚', 'Bookshelf', 'Books that you read, or want to'],
  game_now_playing: ['🎮', 'Game', 'What you play at the moment'],
  movie_queue: ['🎬', 'Watch list', 'Films and shows'],
  podcast_favorites: ['🎙️', 'Podcasts', 'Those that you like'],
  availability_status: ['🟢', 'Availability', 'Whether you can be disturbed'],
  streak_counter: ['🔥', 'Streak', 'How long you have kept something up'],
  fun_counter: ['🧮', 'Counter', 'How often something happened'],
  visitor_counter: ['👣', 'Visitors', 'A number of visitors'],
  random_fact: ['💡', 'Facts', 'One of several facts'],
}

export const categoryTitles: Readonly<Record<WidgetCategory, string>> = {
  personal: 'About you',
  service: 'Reaching you',
  social: 'Elsewhere',
  media: 'Pictures and sound',
  location: 'Places',
  productivity: 'Work and time',
  utility: 'Dates',
  entertainment: 'Books, films and games',
  aesthetic: 'Looks',
  interactive: 'With others',
  fun: 'For fun',
  web3: 'On chain',
}

/** The types of a category, the plainest first, as they stand above. */
export const typesIn = (category: WidgetCategory): WidgetType[] =>
  (Object.keys(widgetTitles) as WidgetType[]).filter((type) => kindOfWidget(type).category === category)

export const isKnownType = (type: string): type is WidgetType => (widgetTypes as readonly string[]).includes(type)
export const titleOfWidget = (type: WidgetType): string => widgetTitles[type]?.[1] ?? 'Widget'

export const sizeTitles: Readonly<Record<WidgetSize, string>> = {
  '1x1': 'Small',
  '2x1': 'Wide',
  '1x2': 'Tall',
  '2x2': 'Large',
  '4x1': 'Full width',
  '4x2': 'Full width, tall',
}

/** What fields are called where their name does not say it. */
const titles: Readonly<Record<string, string>> = {
  url: 'Address',
  link: 'Leads to',
  embedUrl: 'Address of the post',
  imageUrl: 'Picture',
  coverUrl: 'Cover',
  posterUrl: 'Poster',
  avatarUrl: 'Picture',
  avatarEmoji: 'Emoji',
  albumArt: 'Cover',
  spotifyUrl: 'Address at Spotify',
  spotifyUri: 'Address at Spotify',
  agentId: 'Id of the agent',
  personality: 'About it',
  alt: 'What is to be seen on it',
  handle: 'Your name there',
  fontSize: 'Size of the letters',
  targetDate: 'Day and time',
  showDays: 'Days',
  showHours: 'Hours',
  showMinutes: 'Minutes',
  timezone: 'Time zone',
  workHours: 'Hours of work, from 0 to 24',
  showWorkHours: 'Show the hours of work',
  showSchedule: 'Show the hours of work',
  schedule: 'Hours of work',
  copyEnabled: 'Others may copy it',
  showHex: 'Show what each is written as',
  showTraits: 'Show what is said of it',
  showDates: 'Show the dates',
  showResults: 'Show the votes',
  showProgress: 'Show how many are reached',
  showDetails: 'Show number and chain',
  showDaily: 'One for each day',
  refreshable: 'Others may look at another',
  completed: 'Reached',
  goals: 'Goals',
  code: 'Code of the language, such as en',
  proficiency: 'How well',
  hex: 'Colour',
  tokens: 'Tokens',
  amounts: 'Amounts, one in each line',
  facts: 'Facts, one in each line',
  fortunes: 'Sayings, one in each line',
  allowedEmojis: 'Emoji, one in each line',
  rating: 'Out of 10',
  maxMessages: 'At most so many are shown',
  messages: 'Entries',
  content: 'What they said',
  author: 'By whom',
  petType: 'Animal',
  zoom: 'How near, from 0 to 22',
  latestEpisode: 'An episode',
  hoursPlayed: 'Hours played',
  currentStreak: 'How many now',
  longestStreak: 'The most ever',
  startDate: 'Since',
  endDate: 'Until',
  count: 'How many',
  videoId: 'Id of the film at the end of its address',
  contractAddress: 'Contract',
  tokenId: 'Number',
  slug: 'Short name of your calendar',
  customMessage: 'In your words',
}
const titlesIn: { readonly [Field in `${WidgetType}.${string}`]?: string } = {
  'image.url': 'Picture',
  'photo_carousel.url': 'Picture',
  'mood_board.url': 'Picture',
  'polaroid_stack.url': 'Picture',
  'message_me.address': 'Address, if not yours',
  'github.type': 'Leads to',
  'stats.stats': 'Numbers',
}

export const titleOfField = (type: WidgetType, name: string): string =>
  titlesIn[`${type}.${name}`] ?? titles[name] ?? spaced(name)

/** `longestStreak` is `Longest streak`. */
const spaced = (name: string): string => capital(name.replace(/(?<=[a-z])[A-Z]/g, (sign) => ` ${sign.toLowerCase()}`))

const options: Readonly<Record<string, string>> = {
  system: 'As the device',
  inter: 'Inter',
  mono: 'Typewriter',
  serif: 'Serif',
  solid: 'One colour',
  mesh: 'Several gradients',
  image: 'Picture',
  pill: 'Very round',
  none: 'None',
  sm: 'Small',
  md: 'Usual',
  lg: 'Large',
  xl: 'Very large',
  dnd: 'Do not disturb',
  repos: 'Repositories',
  x: 'X',
  pc: 'PC',
  nft: 'NFT',
  '12h': '3:00 PM',
  '24h': '15:00',
}
export const titleOfOption = (option: string): string =>
  options[option] ?? (/^[A-Z]+$/.test(option) ? option : capital(option))

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
