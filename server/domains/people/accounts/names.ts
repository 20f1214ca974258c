import { readingsOf, type Spelling, spellingOf, type Word } from '#server/domains/rooms/text/skeleton'
import { glance, looksOf } from '#shared/kit/looks'
import { badges } from '#shared/kit/primitives'

const letterOf = (script: string) => String.raw`[\p{Script=${script}}&&\p{L}]`
const markOf = (script: string) => String.raw`[\p{Script_Extensions=${script}}&&\p{M}]`
const either = (parts: readonly string[]) => parts.join('|')

/** Scripts whose letters join, unless U+200C separates them. */
const cursive = ['Arabic', 'Syriac', 'Mongolian', 'Nko', 'Mandaic', 'Manichaean']
/** Scripts in which a virama with U+200C or U+200D shapes consonants. */
const conjoining =
  'Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar Balinese Javanese'.split(
    ' ',
  )
const viramas = String.raw`[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u1039\u103a\u17d2\u1b44\ua9c0]`

const betweenLetters = (script: string) =>
  `(?<=${letterOf(script)}${markOf(script)}{0,4})\\u200c(?=${letterOf(script)})`
const atVirama = (script: string) =>
  `(?<=${letterOf(script)}${markOf(script)}{0,2}${viramas})(?:\\u200c(?=${letterOf(script)})|\\u200d)|(?<=${letterOf(script)})\\u200d(?=${viramas}${letterOf(script)})`
/** Joiners in their scripts: rules A1, A2 and B of UAX 31, and the Bengali ya-phalaa of a ra. */
const joiners = new RegExp(either([...cursive.map(betweenLetters), ...conjoining.map(atVirama)]), 'gv')

const emoji =
  /\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)+|\p{RGI_Emoji}/gv
const ofEmoji = /[\u200d\u{e0020}-\u{e007f}]/gu

const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Co}\u115f\u1160\u3164\uffa0\u2800]/u
const stackedMarks = /[\p{Mn}\p{Me}]{3}/u

/** The most marks of its own script on a letter; other letters have two. */
const ownMarks: readonly (readonly [script: string, most: number])[] = [
  ['Hebrew', 5],
  ['Tibetan', 5],
  ['Arabic', 4],
  ['Syriac', 4],
  ['Myanmar', 5],
  ['Thai', 3],
  ['Lao', 3],
  ...conjoining.map((script) => [script, 4] as const),
]
const marksOfLetters = new RegExp(
  either([
    ...ownMarks.map(([script, most]) => `(?<=${letterOf(script)})${markOf(script)}{1,${most}}(?!\\p{M})`),
    // Breathing, accent and iota.
    String.raw`(?<=\p{Script=Greek})[\u0300\u0301\u0308\u0313\u0314\u0342\u0345]{3}(?!\p{M})`,
  ]),
  'gv',
)

/** The disguise in a name, as a message: hidden characters, a badge, or stacked marks; null if there is none. */
export function disguiseOf(name: string): string | null {
  const shown = name.replace(joiners, '').replace(emoji, (sign) => sign.replace(ofEmoji, ''))
  if (invisibleCharacters.test(shown)) return 'It holds a character that is not seen'
  if (badges.test(shown)) return 'It holds a sign that passes for a badge'
  return stackedMarks.test(shown.normalize('NFD').replace(marksOfLetters, '')) ? 'It piles up marks on a letter' : null
}

const roles =
  'admin administrator moderator mod staff team official verified system operator manager root sudo superuser webmaster'
const support = 'support help helpdesk customer_support tech_support service'
const money = 'wallet vault treasury finance payment billing bank crypto token tokens nft nfts account accounts'
const news =
  'announcement announcements news update updates alert alerts notification notifications notice info broadcast'
const titles = 'ceo cto cfo coo founder owner developer dev engineer president director lead head'
const placeholders = 'null undefined anonymous guest user username me self api www mail email localhost server'
/** Reserved usernames that agents may still use as names. */
const trials = 'test demo example bot'
const bait = 'giveaway airdrop free winner prize reward claim bonus promo lottery verify recovery unlock'
const people =
  'satoshi satoshinakamoto satoshi_nakamoto vitalik vitalikbuterin vitalik_buterin elonmusk elon_musk markzuckerberg mark_zuckerberg jeffbezos jeff_bezos billgates bill_gates samaltman sam_altman timcook tim_cook'
const service = 'plaza'
const besideService = ' app chat labs team support help bot dao admin mod staff system security owner official'.split(
  ' ',
)

const serviceNames = new Set(besideService.flatMap((part) => [service + part, part + service]).map(glance))
const pretending = new Set(
  [roles, support, money, news, titles, placeholders, bait, people].join(' ').split(' ').map(glance),
)
const reserved = new Set([...pretending, ...serviceNames, ...trials.split(' ').map(glance)])
const reservedStart = new Set(['official', 'support', 'admin', 'mod', 'team'].map(glance))
const reservedEnd = new Set([...reservedStart, ...['staff', 'verified'].map(glance)])

/** Words that claim authority anywhere, and words that claim it only alone. */
const claims = new Set(
  'admin admins administrator superadmin moderator moderators official officials helpdesk'
    .split(' ')
    .flatMap((word) => [glance(word), glance(spellingOf(word).squeezed)]),
)
const alone = new Set(
  'support staff team verified system root help mod mods bot customer service security'.split(' ').map(glance),
)
/** Words without a meaning of their own. */
const filling = new Set('the a an of by at in from for your our my this is real true'.split(' ').map(glance))

/** Is the username reserved, in any spelling? The caller learns only that it is not available. */
export function isReserved(username: string): boolean {
  if (reserved.has(glance(username))) return true
  const parts = username.split('_').filter((part) => part !== '')
  const [first, last] = [glance(parts[0] ?? ''), glance(parts.at(-1) ?? '')]
  if (parts.length > 1 && (reservedStart.has(first) || reservedEnd.has(last))) return true
  return [...parts, username].some((word) => isAuthority([spellingOf(word)]))
}

/** The canonical look of a username, which must be unique; underscores alone look like themselves. */
export const usernameLook = (username: string): string => looksOf(username)[0] || username

/** All looks of a name, with and without the signs around it. */
export const looksIn = (name: string): string[] => {
  const ways = [name, name.replace(/^[\s@!|+]+|[\s!|+]+$/g, '')]
  return [...new Set(ways.flatMap((way) => [usernameLook(way), ...looksOf(way)]))].filter(Boolean)
}

const ofService = 'It reads as the name of this service, of its staff or of one of their roles'

/**
 * Why a display name deceives: it is disguised, claims authority or names the service, in any spelling. Null if it does
 * not.
 */
export const deceptionBy = (name: string): string | null =>
  disguiseOf(name) ?? (readingsOf(name).some(isClaim) ? ofService : null)

const asUsername = /^[^\p{L}\p{N}]*@/u

/**
 * Why a status deceives beside a name: it has a badge, claims authority, or begins like a username. Null if it does
 * not.
 */
export const deceptionByStatus = (status: string): string | null =>
  deceptionBy(status) ?? (asUsername.test(status.normalize('NFKC')) ? 'It begins as a username does' : null)

/** Why a room's name passes for one of the service; null if it does not. Words such as `Help` are allowed. */
export const deceptionByRoom = (name: string): string | null =>
  disguiseOf(name) ?? (readingsOf(name).some(isOfService) ? ofService : null)

/**
 * Why a label beside a name deceives; null if it does not. It may neither pass for the service nor be a claim of
 * authority alone. Words such as `Support` are allowed.
 */
export const deceptionByLabel = (label: string): string | null =>
  deceptionByRoom(label) ?? (readingsOf(label).some(isAuthorityAlone) ? ofService : null)

/**
 * Why an agent's name deceives; null if it does not. It may neither claim authority, pass for the service or its staff,
 * nor be reserved. Words such as `Bot` are allowed.
 */
export const deceptionByAgent = (name: string): string | null =>
  disguiseOf(name) ?? (readingsOf(name).some(isServiceOrStaff) ? ofService : null)

const isServiceOrStaff = (reading: readonly Word[]): boolean =>
  isOfService(reading) || claimsAuthority(reading) || isOfStaff(reading)

const official = new Set(['official', 'officials'].map(glance))
const beside = new Set(
  [support, news, roles, 'security']
    .join(' ')
    .split(' ')
    .flatMap((word) => [word, `${word}s`])
    .map(glance),
)

/** Signs such as an emoji, and numbers beside a role, change nothing of what a name says. */
function isOfService(reading: readonly Word[]): boolean {
  const words = reading.filter((word) => !isAmong(filling, word) && !isSign(word))
  const joined = spellingOf(words.map(([word]) => word?.written ?? '').join(''))
  const others = words.filter((word) => !word.some(namesService))
  if (words.some((word) => isAmong(official, word)) || namesService(joined)) return true
  if (others.length === words.length) return false
  const unnumberedOthers = others.filter((word) => !isNumber(word))
  if (unnumberedOthers.length === 0) return others.length === 0
  return unnumberedOthers.every((word) => isAmong(beside, word))
}

const isSign = (word: Word): boolean => word.every(({ written }) => !/[\p{L}\p{N}]/u.test(written))

const namesService = ({ written }: Spelling): boolean =>
  serviceNames.has(glance(written)) || serviceNames.has(unstretched(written))

const ranks = 'staff system mod mods moderator owner owners root sudo superuser webmaster operator verified'.split(' ')
/** A rank with one of these words is still a rank. */
const companions = [support, news, roles, 'bot agent assistant message messages account security'].join(' ').split(' ')
const rank = new Set(ranks.map(glance))
const besideRank = new Set(companions.map(glance))
const inOneWord = new Set(
  ranks.flatMap((word) => companions.flatMap((other) => [word + other, other + word])).map(glance),
)

/** Is it a role of the service, with or without a number, or a reserved name? */
function isOfStaff(reading: readonly Word[]): boolean {
  if (isAmong(pretending, meaningfulWords(reading).joined)) return true
  const { words, joined } = meaningfulWords(reading.filter((word) => !isNumber(word)).map(unnumbered))
  const isRank = (word: Word) => isAmong(rank, word)
  if (words.some(isRank)) return words.every((word) => isRank(word) || isAmong(besideRank, word))
  if (isAmong(inOneWord, joined)) return true
  return words.length > 0 && words.every((word) => isAmong(alone, word) && !isAmong(bot, word))
}

const bot = new Set([glance('bot')])
const isNumber = (word: Word) => word.every(({ written }) => /^\d+$/.test(written))
const unnumbered = (word: Word): Word =>
  word.flatMap(({ written }) => [written, written.replace(/[\d_]+$/, '')]).map(spellingOf)

function isClaim(reading: readonly Word[]): boolean {
  const { words, joined } = meaningfulWords(reading)
  if (claimsAuthority(reading)) return true
  return words.length > 0 && (words.every((word) => isAmong(alone, word)) || isAmong(alone, joined))
}

const badgeWords = new Set('staff verified mod mods'.split(' ').map(glance))

function isAuthorityAlone(reading: readonly Word[]): boolean {
  const { words, joined } = meaningfulWords(reading.filter((word) => !isSign(word) && !isNumber(word)))
  const isClaimed = (word: Word) => isAuthority(word) || isAmong(badgeWords, unnumbered(word))
  return words.length > 0 && (words.every(isClaimed) || isClaimed(joined))
}

function claimsAuthority(reading: readonly Word[]): boolean {
  const { words, joined } = meaningfulWords(reading)
  return [...words, joined].some(isAuthority)
}

function meaningfulWords(reading: readonly Word[]) {
  const words = reading.filter((word) => !isAmong(filling, word))
  return { words, joined: [spellingOf(words.map(([word]) => word?.written ?? '').join(''))] }
}

const isAmong = (words: ReadonlySet<string>, word: Word): boolean =>
  word.some(({ written, squeezed }) => words.has(glance(written)) || words.has(glance(squeezed)))

/** Does the word claim authority or name the service, with or without a number? */
const isAuthority = (word: Word): boolean => {
  const bare = unnumbered(word)
  return isAmong(claims, bare) || bare.some(namesService)
}

// The service's name is not squeezed completely: `piazza` is a different word.
const unstretched = (word: string): string => glance(word.replace(/(.)\1{2,}/gu, '$1'))

/** The search form of a display name. */
export const searchFormOf = (name: string): string => name.normalize('NFC').toLowerCase()

/** The stored fields of a display name. */
export const displayNameFields = (display_name: string | null) => ({
  display_name,
  display_name_sought: display_name === null ? null : searchFormOf(display_name),
})
