import { normalized } from '#shared/kit/normal'

const commonTopLevels = [
  'com net org io co me app dev xyz info biz gg tv cc ly link site online store shop club live top pro tech ai',
  'edu gov uk us ca de fr es eu ru cn jp br au nl ch se pl',
]
const topLevels = commonTopLevels.join(' ').replaceAll(' ', '|')

// Each alternative is a fixed text with a bounded context: none can backtrack.
const address = new RegExp(
  [
    '[\\p{L}\\p{N}]://\\S',
    // URLs that browsers repair.
    '(?<![\\p{L}\\p{N}])https?:[\\\\/]{0,3}[\\p{L}\\p{N}-]{1,63}\\.[\\p{L}\\p{N}]',
    '(?<![\\p{L}\\p{N}])https?:[\\\\/]{2,3}[\\p{L}\\p{N}]',
    '(?<![\\p{L}\\p{N}])www\\.[\\p{L}\\p{N}]',
    `[\\p{L}\\p{N}]\\.(?:${topLevels})(?![\\p{L}\\p{N}_-])`,
    '[\\p{L}\\p{N}]\\.xn--[a-z0-9]',
    '(?<![\\p{L}\\p{N}])xn--[a-z0-9-]{1,59}\\.[a-z]',
  ].join('|'),
  'iu',
)
const ascii = /^[\0-\x7f]*$/
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
const dots = /[。．｡․]/g
const bracketedDot = /[[({]\s?(?:\.|dot)\s?[\])}]/gi

/** Has the text a link? Links are URLs, also repairable ones, `www.` prefixes and domains under common top levels. */
export function hasLink(text: string): boolean {
  return address.test(plainDots(text))
}

const here = 'https://here.invalid'

/** Does the target of a Markdown link leave this site, as a browser reads it? */
export function isOutsideLink(target: string): boolean {
  if (hasLink(target)) return true
  const url = URL.canParse(target) ? new URL(target) : URL.canParse(target, here) ? new URL(target, here) : null
  return url !== null && url.origin !== here && /^(?:https?|ftp|wss?):$/.test(url.protocol)
}

function plainDots(text: string): string {
  const visible = ascii.test(text) ? text : normalized(text.replace(dots, '.'), 'NFKC').replace(invisible, '')
  return /[[({]/.test(visible) ? visible.replace(bracketedDot, '.') : visible
}
