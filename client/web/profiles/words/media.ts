import type { Config } from '../config.ts'
import { capital, dotted, joined, leading, linkIn, pictureIn, plain, said, type WordsOf } from '../shown.ts'
import { platformName } from './services.ts'

type Pictures = 'image' | 'photo_carousel' | 'mood_board' | 'polaroid_stack' | 'color_palette' | 'vinyl_record'
type Listed = 'bookshelf' | 'movie_queue' | 'podcast_favorites' | 'game_now_playing'

/** Pictures, films and music, and what somebody reads, sees and plays. */
export const media: WordsOf<Pictures | Listed | 'video' | 'spotify'> = {
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
      title: it.text('title') || (colors.length > 0 ? 'Colours' : ''),
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
    link: linkIn(it, 'spotifyUrl', 'Listen'),
  }),
  video: (it) => {
    const host = videoHosts[it.text('platform')]
    const id = it.text('videoId')
    return {
      sign: '▶️',
      title: id && host ? `A video on ${platformName(it.text('platform'))}` : '',
      link: leading(id && host ? `${host}${id}` : '', 'Watch it there'),
    }
  },
  spotify: (it) => {
    const address = it.text('spotifyUri').replace(/^spotify:([a-z]+):(\w+)$/, 'https://open.spotify.com/$1/$2')
    return {
      sign: '🎵',
      title: address && capital(joined(it.text('type') || 'music', 'on Spotify')),
      link: leading(address, 'Listen there'),
    }
  },
  bookshelf: (it) => {
    const items = it.list('books').map((one) => ({
      title: one.text('title'),
      detail: dotted(one.text('author'), plain(one.text('status')), ratingOf(one)),
      picture: pictureIn(one, 'coverUrl', '')[0],
    }))
    return { sign: '📚', title: it.text('title') || (items.length > 0 ? 'Books' : ''), items }
  },
  movie_queue: (it) => {
    const items = it.list('items').map((one) => ({
      title: one.text('title'),
      detail: dotted(one.text('type'), plain(one.text('status')), ratingOf(one)),
      picture: pictureIn(one, 'posterUrl', '')[0],
    }))
    return { sign: '🎬', title: it.text('title') || (items.length > 0 ? 'Watch list' : ''), items }
  },
  podcast_favorites: (it) => {
    const items = it.list('podcasts').map((one) => ({
      title: one.text('name'),
      detail: one.text('latestEpisode'),
      link: one.text('spotifyUrl') || undefined,
      picture: pictureIn(one, 'coverUrl', '')[0],
    }))
    return { sign: '🎙️', title: items.length > 0 ? 'Podcasts' : '', items }
  },
  game_now_playing: (it) => ({
    sign: '🎮',
    title: it.text('gameName') && 'Now playing',
    big: it.text('gameName'),
    lines: said(
      dotted(consoles[it.text('platform')] ?? '', it.text('hoursPlayed') && `${it.text('hoursPlayed')} h`),
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

const consoles: Readonly<Record<string, string>> = {
  pc: 'PC',
  playstation: 'PlayStation',
  xbox: 'Xbox',
  nintendo: 'Nintendo',
  mobile: 'Mobile',
}

const picturesIn = (it: Config, field: string) =>
  it
    .list(field)
    .flatMap((one) => pictureIn(one, 'url', '').map((shown) => ({ ...shown, caption: one.text('caption') })))

const ratingOf = (it: Config) => (it.number('rating') === null ? '' : `★ ${it.text('rating')} of 10`)
