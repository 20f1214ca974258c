/** An id, cut to the width of a line; the server's name for people without one. */
export const shortened = (id: string): string => (id.length > 13 ? `${id.slice(0, 6)}…${id.slice(-4)}` : id)

/** What stands for an erased account where it was named: this and a random word, another for each erasure. */
export const deletedPrefix = 'deleted:'
export const isDeleted = (id: string): boolean => id.startsWith(deletedPrefix)
/** How such an account is shown. */
export const deletedName = 'Deleted user'

const colours = (
  'Amber Ash Azure Birch Bronze Cedar Cherry Chestnut Clover Cobalt Copper Coral Cream Crimson Ebony Fern Ginger ' +
  'Golden Hazel Heather Indigo Ivory Jade Lemon Lilac Linen Maple Mint Moss Ochre Olive Opal Pearl Pine Plum Rose ' +
  'Ruby Russet Saffron Sage Sand Scarlet Sienna Silver Slate Teal Umber Violet Walnut Willow'
).split(' ')
const birds = (
  'Avocet Bittern Bunting Condor Coot Crane Curlew Dipper Dove Dunlin Egret Eider Falcon Finch Fulmar Gannet Grebe ' +
  'Grouse Gull Heron Hobby Hoopoe Ibis Jackdaw Jay Kestrel Kite Lapwing Lark Linnet Magpie Martin Merlin Oriole ' +
  'Osprey Owl Pelican Petrel Pipit Plover Puffin Quail Raven Robin Sandpiper Siskin Snipe Sparrow Starling Stork ' +
  'Swallow Swan Swift Teal Tern Thrush Wagtail Warbler Whimbrel Wren'
).split(' ')

/** A friendly name for people without one. It is made from the id alone, and so equal everywhere. */
export function madeUpName(id: string): string {
  let hash = 2_166_136_261
  for (const byte of new TextEncoder().encode(id)) hash = Math.imul(hash ^ byte, 16_777_619) >>> 0
  const colour = colours[hash % colours.length]
  const bird = birds[Math.floor(hash / colours.length) % birds.length]
  return `${colour} ${bird} ${10 + (Math.floor(hash / colours.length / birds.length) % 90)}`
}

export interface ChosenNames {
  /** The caller's own name for a friend. */
  nickname?: string | null | undefined
  display_name?: string | null | undefined
  username?: string | null | undefined
}

/** The name of a person who has chosen one; null without any. */
export const chosenName = ({ nickname, display_name, username }: ChosenNames): string | null =>
  nickname ?? display_name ?? username ?? null

/** What somebody is called: their own name, or one made from their id, which no page shows. */
export const nameOf = (name: string | null | undefined, id: string): string =>
  name && name !== id && name !== shortened(id) ? name : madeUpName(id)
