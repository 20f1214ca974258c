/** The kinds of content a room allows or not, in the order in which they are shown. */
export const contentRules = [
  { key: 'links_allowed', title: 'Links', sendable: 'links' },
  { key: 'polls_allowed', title: 'Polls', sendable: 'poll' },
  { key: 'photos_allowed', title: 'Photos', sendable: 'photo' },
  { key: 'gifs_allowed', title: 'GIFs', sendable: 'gif' },
  { key: 'pixel_art_allowed', title: 'Pixel art', sendable: 'pixel_art' },
  { key: 'location_sharing_allowed', title: 'Locations', sendable: 'location' },
  { key: 'voice_allowed', title: 'Voice', sendable: 'voice' },
] as const
