import { parseSync } from 'vite'

/** The longest sentence of a document, in words. */
const LONGEST = 20

/** Words of our old dialect, and the plain ones that take their place. */
const dialect: readonly (readonly [old: RegExp, plain: string])[] = [
  [/\bwho(?:m)?ever\b/gi, 'everybody who, any caller'],
  [/(?<=^|[.;|] )Who (?![^.;|]*[?:])/gm, 'a noun: the caller, a member'],
  [/\b(?:of|to|for|from|by|with|as|where|and|but) who\b/gi, 'a noun: the caller, a member'],
  [/\bwhat (?:is|are|was|were) (?:said|asked|given)\b/gi, 'a noun: the message, the request'],
  [/\btold\b/gi, 'notified, sent, reported'],
  [/\btells (?:nobody|everybody|its|their|them|what|who|of)\b/gi, 'notifies, returns'],
  [/\bhears\b/gi, 'receives'],
  [/\bstands\b(?! for\b)|\bstood\b|\bstand so\b/gi, 'is committed, is stored, is'],
  [/\blet(?:s|ting)? (?:it |them )?go\b/gi, 'release'],
  [/\bfor good\b/gi, 'permanently'],
  [/\bbut for\b/gi, 'except'],
  [/\bthe house\b/gi, 'the server, the architecture'],
  [/\bmend(?:s|ed|ing)?\b/gi, 'fix'],
  [/\bby letter\b|\bletters (?:and texts|to|about)\b|\bsends? letters\b/gi, 'email'],
]

const withoutCode = (text: string) =>
  text
    .replace(/^ *```[\s\S]*?^ *```/gm, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/`[^`\n]*`/g, 'Code')
    .replace(/\]\([^)\n]*\)/g, ']')
    .replace(/[[\]*]/g, '')

/** Paragraphs and bullets, each in one line: no tables, headings and pictures. */
function blocksOf(text: string): string[] {
  const lines = withoutCode(text).replace(/^(?:#|!|\s*\||\s*$).*$/gm, '')
  return lines.split(/\n{2,}|\n(?=\s*(?:-|\d+\.) )/).map((block) =>
    block
      .replace(/^\s*(?:-|\d+\.) /, '')
      .replace(/\s+/g, ' ')
      .trim(),
  )
}

const sentencesOf = (block: string) => block.split(/(?<=[.!?][)”"]?) (?=[“"(]?[A-Z0-9])/)
const lengthOf = (sentence: string) => sentence.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length

export const longSentencesOf = (text: string): string[] =>
  blocksOf(text)
    .flatMap(sentencesOf)
    .filter((sentence) => lengthOf(sentence) > LONGEST)

/** Each as it is written, with what to say instead. */
export const dialectOf = (text: string): string[] =>
  dialect.flatMap(([old, plain]) => (withoutCode(text).match(old) ?? []).map((found) => `${found} -> ${plain}`))

/** The comments of a source, a paragraph each; adjoining lines are one comment. */
export function commentsOf(path: string, code: string): string {
  const { comments } = parseSync(path, code)
  const texts = comments.map(({ type, value, start }, at) => {
    const before = code.slice(comments[at - 1]?.end ?? 0, start)
    const isContinued = type === 'Line' && comments[at - 1]?.type === 'Line' && /^\n[ \t]*$/.test(before)
    const text = value.replace(/^\*?[ \t]*/, '').replace(/\n[ \t]*\*?[ \t]?/g, '\n')
    return (isContinued ? '\n' : '\n\n') + text.replace(/\n(?=@)/g, '\n\n')
  })
  return texts.join('')
}
