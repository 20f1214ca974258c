import { profileTexts } from '../../texts/profiles.ts'
import type { Config } from '../config.ts'
import { dotted, leading, linkIn, optionOf, pictureIn, said, type WordsOf } from '../shown.ts'

const t = profileTexts.widgets

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
