const roles =
  'admin administrator moderator mod staff team official verified system operator manager root sudo superuser webmaster'
const support = 'support help helpdesk customer_support tech_support service'
const money = 'wallet vault treasury finance payment billing bank crypto token tokens nft nfts account accounts'
const news =
  'announcement announcements news update updates alert alerts notification notifications notice info broadcast'
const titles = 'ceo cto cfo coo founder owner developer dev engineer president director lead head'
const placeholders =
  'null undefined anonymous guest test demo example user username me self api www mail email localhost server bot'
const bait = 'giveaway airdrop free winner prize reward claim bonus promo lottery verify recovery unlock'
const people =
  'satoshi satoshinakamoto satoshi_nakamoto vitalik vitalikbuterin vitalik_buterin elonmusk elon_musk markzuckerberg mark_zuckerberg jeffbezos jeff_bezos billgates bill_gates samaltman sam_altman timcook tim_cook'
const service = 'plaza'
const serviceVariants = ['', 'app', 'chat', 'labs', 'team', 'support', 'help', 'bot', 'dao', 'admin', 'mod']

const reserved = new Set([
  ...[roles, support, money, news, titles, placeholders, bait, people].join(' ').split(' '),
  ...serviceVariants.map((variant) => service + variant),
])
const reservedStart = new RegExp(`^(${service}|official|support|admin|mod|team)_`)
const reservedEnd = /_(official|support|admin|mod|team|staff|verified)$/

/** Usernames nobody may take; the caller is told no more than that the name is not available. */
export const isReserved = (username: string): boolean =>
  reserved.has(username) || reservedStart.test(username) || reservedEnd.test(username)

const joinedEmoji = /(?<=\p{Extended_Pictographic}\ufe0f?)\u200d(?=\p{Extended_Pictographic})/gu
const unseen = /[\p{Cc}\p{Cf}\p{Co}\u115f\u1160\u3164\uffa0\u2800]/u
const badges = /[\u2705\u2713\u2714\u2611]/u
const combining = /\p{Mn}|\p{Me}/gu
const stacked = /(\p{Mn}|\p{Me}){3}/u

const lookalikes = new Map(
  Object.entries({
    a: 'аαɑ@4',
    b: 'ЬВβ8',
    c: 'сϲ',
    d: 'ԁɗ',
    e: 'еєεҽ3',
    f: 'ƒϝ',
    h: 'һнη',
    i: 'іιıӏ1!|l',
    m: 'мɱ',
    n: 'пռ',
    o: 'оοօ0',
    p: 'рρ',
    r: 'гⲅ',
    s: 'ѕꜱ5$',
    t: 'тτ7',
    u: 'υս',
    v: 'νѵ',
    y: 'уүγ',
  }).flatMap(([plain, others]) => [...others.toLowerCase()].map((other) => [other, plain] as const)),
)

const skeletonOf = (text: string): string =>
  [...text.normalize('NFKD').replace(combining, '').toLowerCase()].map((sign) => lookalikes.get(sign) ?? sign).join('')

/** Words that claim authority wherever they stand, and words that do so where nothing else is said. */
const claims = 'admin admins administrator superadmin moderator moderators official officials helpdesk'
const alone = `support staff team verified system root help mod mods bot ${serviceVariants.map((one) => service + one).join(' ')}`
const claimSkeletons = new Set(claims.split(' ').map(skeletonOf))
const aloneSkeletons = new Set([...claimSkeletons, ...alone.split(' ').map(skeletonOf)])

/** Would this display name deceive: hidden signs, a badge, or a claim of authority, however it is spelled? */
export function isDeceptive(name: string): boolean {
  const shown = name.replace(joinedEmoji, '')
  if (unseen.test(shown) || badges.test(shown) || stacked.test(shown.normalize('NFD'))) return true
  const words = skeletonOf(shown).match(/[\p{L}\p{N}]+/gu) ?? []
  if (words.some((word) => claimSkeletons.has(word))) return true
  return words.length > 0 && (words.every((word) => aloneSkeletons.has(word)) || aloneSkeletons.has(words.join('')))
}
