import type { Widget, WidgetType } from '#shared/api/people/profile-widgets'
import { profileTexts } from '../texts/profiles.ts'
import { dateOf, timeAt } from './clock-times.ts'
import {
  type Config,
  configOf,
  dotted,
  leading,
  linkIn,
  optionOf,
  pictureIn,
  type Seen,
  type Shown,
  said,
  type WordsOf,
} from './shown.ts'
import { personal } from './words/personal.ts'
import { services } from './words/services.ts'

const t = profileTexts.widgets

type Pictures = 'image' | 'photo_carousel' | 'mood_board' | 'polaroid_stack' | 'color_palette' | 'vinyl_record'
type Listed = 'bookshelf' | 'movie_queue' | 'podcast_favorites' | 'game_now_playing'

/** Pictures, films and music, and what somebody reads, sees and plays. */
const media: WordsOf<Pictures | Listed | 'video' | 'spotify'> = {
  image: (it) => ({
    pictures: pictureIn(it, 'url', it.text('alt')).map((one) => ({
      ...one,
      caption: it.text('caption'),
      fit: it.text('fit'),
      link: it.text('link') || undefined,
    })),
  }),
  photo_carousel: (it) => ({ pictures: picturesIn(it, 'images') }),
  mood_board: (it) => ({ title: it.text('title'), pictures: picturesIn(it, 'images') }),
  polaroid_stack: (it) => ({ pictures: picturesIn(it, 'photos') }),
  color_palette: (it) => {
    const colors = it.list('colors').filter((one) => one.text('hex') !== '')
    return {
      title: it.text('title') || (colors.length > 0 ? t.colors : ''),
      colors: colors.map((one) => ({
        hex: one.text('hex'),
        name: dotted(one.text('name'), it.isOff('showHex') && one.text('name') ? '' : one.text('hex')),
        isNamed: one.text('name') !== '' || !it.isOff('showHex'),
      })),
    }
  },
  vinyl_record: (it) => ({
    sign: '💿',
    title: it.text('albumName') || it.text('artistName'),
    lines: said(it.text('albumName') && it.text('artistName')),
    pictures: pictureIn(it, 'albumArt', it.text('albumName')),
    link: linkIn(it, 'spotifyUrl', t.listen),
  }),
  video: (it) => {
    const host = videoHosts[it.text('platform')]
    const id = it.text('videoId')
    return {
      sign: '▶️',
      title: id && host ? t.videoOn({ platform: optionOf(it, 'platform') }) : '',
      link: leading(id && host ? `${host}${id}` : '', t.watch),
    }
  },
  spotify: (it) => {
    const address = it.text('spotifyUri').replace(/^spotify:([a-z]+):(\w+)$/, 'https://open.spotify.com/$1/$2')
    return {
      sign: '🎵',
      title: address && t.spotify({ kind: it.text('type') }),
      link: leading(address, t.listen),
    }
  },
  bookshelf: (it) => {
    const items = it.list('books').map((one) => ({
      title: one.text('title'),
      detail: dotted(one.text('author'), optionOf(one, 'status'), ratingOf(one)),
      picture: pictureIn(one, 'coverUrl', '')[0],
    }))
    return { sign: '📚', title: it.text('title') || (items.length > 0 ? t.books : ''), items }
  },
  movie_queue: (it) => {
    const items = it.list('items').map((one) => ({
      title: one.text('title'),
      detail: dotted(optionOf(one, 'type'), optionOf(one, 'status'), ratingOf(one)),
      picture: pictureIn(one, 'posterUrl', '')[0],
    }))
    return { sign: '🎬', title: it.text('title') || (items.length > 0 ? t.films : ''), items }
  },
  podcast_favorites: (it) => {
    const items = it.list('podcasts').map((one) => ({
      title: one.text('name'),
      detail: one.text('latestEpisode'),
      link: one.text('spotifyUrl') || undefined,
      picture: pictureIn(one, 'coverUrl', '')[0],
    }))
    return { sign: '🎙️', title: items.length > 0 ? t.podcasts : '', items }
  },
  game_now_playing: (it) => ({
    sign: '🎮',
    title: it.text('gameName') && t.playing,
    big: it.text('gameName'),
    lines: said(
      dotted(optionOf(it, 'platform'), it.text('hoursPlayed') && t.played({ count: it.text('hoursPlayed') })),
      it.text('achievement'),
    ),
    pictures: pictureIn(it, 'coverUrl', it.text('gameName')),
  }),
}

const videoHosts: Readonly<Record<string, string>> = {
  youtube: 'https://www.youtube.com/watch?v=',
  vimeo: 'https://vimeo.com/',
  loom: 'https://www.loom.com/share/',
}

const picturesIn = (it: Config, field: string) =>
  it
    .list(field)
    .flatMap((one) => pictureIn(one, 'url', '').map((shown) => ({ ...shown, caption: one.text('caption') })))

const ratingOf = (it: Config) => (it.number('rating') === null ? '' : t.rating({ rating: it.text('rating') }))

const placesTexts = profileTexts.widgets

const placeOf = (it: Config) => said(it.text('city'), it.text('country')).join(', ')
const cityOf = (zone: string) => (zone.split('/').at(-1) ?? '').replaceAll('_', ' ')
const twoDigits = (value: number) => `${Math.floor(value)}`.padStart(2, '0')
const hour = (value: number) => `${twoDigits(value)}:${twoDigits((value % 1) * 60)}`

/** Where somebody is, and what time it is there. */
const places: WordsOf<'map' | 'weather' | 'clock' | 'timezone_overlap' | 'availability_status'> = {
  map: (it) => {
    const [latitude, longitude] = [it.number('latitude'), it.number('longitude')]
    const isKnown = latitude !== null && longitude !== null
    const where = `mlat=${latitude}&mlon=${longitude}#map=${it.number('zoom') ?? 12}/${latitude}/${longitude}`
    return {
      sign: '📍',
      title: it.text('label') || placeOf(it) || (isKnown ? `${latitude}, ${longitude}` : ''),
      lines: said(it.text('label') && placeOf(it)),
      link: leading(isKnown ? `https://www.openstreetmap.org/?${where}` : '', placesTexts.map),
    }
  },
  weather: (it) => {
    const units = it.text('units') === 'fahrenheit' ? 'u' : 'm'
    const place = encodeURIComponent(placeOf(it))
    return {
      sign: '🌤️',
      title: placeOf(it),
      link: leading(place && `https://wttr.in/${place}?${units}`, placesTexts.weather),
    }
  },
  clock: (it, { now }) => {
    const zone = it.text('timezone')
    const time = timeAt(zone, now, it.text('format'))
    return {
      title: time ? it.text('label') || cityOf(zone) : '',
      big: time?.time,
      lines: said(time?.day ?? ''),
    }
  },
  timezone_overlap: (it, { now }) => {
    const zone = it.text('timezone')
    const time = timeAt(zone, now, '24h')
    return {
      title: time ? it.text('label') || cityOf(zone) : '',
      big: time?.time,
      lines: it.isOff('showWorkHours') || !time ? [] : hoursIn(it, time.hour),
    }
  },
  availability_status: (it, { now }) => {
    const schedule = it.group('schedule')
    const zone = schedule.text('timezone')
    const lines = it.is('showSchedule') ? hoursIn(schedule, timeAt(zone, now, '24h')?.hour ?? null) : []
    const sign = signs[it.text('status')] ?? ''
    return {
      sign,
      title: sign && optionOf(it, 'status'),
      lines: said(it.text('customMessage'), ...lines, lines.length > 0 ? placesTexts.zone({ zone: cityOf(zone) }) : ''),
    }
  },
}

const signs: Readonly<Record<string, string>> = { available: '🟢', busy: '🟠', away: '🟡', dnd: '🔴', offline: '⚪' }

/** `at` is the hour there now; null where it is not known. */
function hoursIn(it: Config, at: number | null): string[] {
  const hours = it.group('workHours')
  const [start, end] = [hours.number('start'), hours.number('end')]
  if (start === null || end === null || at === null) return []
  const isWithin = start <= end ? at >= start && at < end : at >= start || at < end
  return [
    placesTexts.hours({ from: hour(start), to: hour(end) }),
    isWithin ? placesTexts.atWork : placesTexts.notAtWork,
  ]
}

const playfulTexts = profileTexts.widgets
const moods: Readonly<Record<string, string>> = profileTexts.moods

const dayMilliseconds = 86_400_000

/** What plays with whoever looks. */
const playful: WordsOf<'poll' | 'guestbook' | 'reaction_wall' | 'pet' | 'fortune_cookie' | 'random_fact'> = {
  poll: (it) => {
    const ends = dateOf(it.text('endDate'))
    return { sign: '📊', title: it.text('question'), lines: said(ends && playfulTexts.until({ date: ends })) }
  },
  guestbook: (it) => ({ sign: '📖', title: it.text('title') || playfulTexts.guestbook }),
  reaction_wall: (it) => ({ title: it.texts('allowedEmojis').length > 0 ? playfulTexts.reactions : '' }),
  pet: (it) => {
    const kind = it.text('petType')
    return {
      sign: pets[kind] ?? '🐾',
      title: it.text('name') || optionOf(it, 'petType'),
      lines: said(moods[it.text('mood')] ?? ''),
    }
  },
  fortune_cookie: (it, { now }) => ({
    sign: '🥠',
    title: it.texts('fortunes').length > 0 ? playfulTexts.fortune : '',
    turns: turnsIn(it, 'fortunes', Math.floor(now / dayMilliseconds), !it.is('showDaily')),
  }),
  random_fact: (it, { now }) => ({
    sign: '💡',
    title: it.text('title') || (it.texts('facts').length > 0 ? playfulTexts.fact : ''),
    turns: turnsIn(it, 'facts', Math.floor(now / dayMilliseconds), !it.isOff('refreshable')),
  }),
}

function turnsIn(it: Config, field: string, first: number, mayTurn: boolean) {
  const texts = it.texts(field)
  return texts.length === 0 ? undefined : { texts, first: first % texts.length, mayTurn: mayTurn && texts.length > 1 }
}

const pets: Readonly<Record<string, string>> = {
  cat: '🐈',
  dog: '🐕',
  hamster: '🐹',
  bird: '🐦',
  fish: '🐟',
  alien: '👾',
  robot: '🤖',
  ghost: '👻',
}

const words: WordsOf<WidgetType> = { ...services, ...places, ...personal, ...media, ...playful }

/** What a widget looks like; null where nothing of it would be seen, and of types that this page does not know. */
export function shownOf({ widget_type, config }: Pick<Widget, 'widget_type' | 'config'>, seen: Seen): Shown | null {
  const shown = words[widget_type]?.(configOf(config), seen)
  return shown && isSeen(shown) ? shown : null
}

function isSeen({ title, big, prose, ...parts }: Shown): boolean {
  const texts = [title, big, prose?.text]
  const lists = [parts.lines, parts.facts, parts.items, parts.chips, parts.colors, parts.pictures, parts.turns?.texts]
  return texts.some(Boolean) || lists.some((list) => (list?.length ?? 0) > 0) || parts.link !== undefined
}
