import { Rooms } from '#server/domains/room-state/model'

/** Those of these addresses that rooms show. */
export async function iconsAmong(urls: readonly string[]) {
  const found = await Rooms.find({ icon_url: { $in: [...urls] } }, { icon_url: 1 }).lean()
  return found.map(({ icon_url }) => icon_url)
}
