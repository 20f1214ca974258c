import { roomTexts as t } from '../texts/rooms.ts'
/** The kinds of content a room allows or not, in the order in which they are shown. */
export const contentRules = [
  { key: 'links_allowed', title: t.contents.links_allowed, sendable: 'links' },
  { key: 'polls_allowed', title: t.contents.polls_allowed, sendable: 'poll' },
  { key: 'photos_allowed', title: t.contents.photos_allowed, sendable: 'photo' },
  { key: 'gifs_allowed', title: t.contents.gifs_allowed, sendable: 'gif' },
  { key: 'pixel_art_allowed', title: t.contents.pixel_art_allowed, sendable: 'pixel_art' },
  { key: 'location_sharing_allowed', title: t.contents.location_sharing_allowed, sendable: 'location' },
  { key: 'voice_allowed', title: t.contents.voice_allowed, sendable: 'voice' },
  { key: 'files_allowed', title: t.contents.files_allowed, sendable: 'file' },
] as const
