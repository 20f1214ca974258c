import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { containsWords, searchWords, termOf, termsOf } from '#server/domains/rooms/room-state/search-index'

const holds = (text: string, query: string) => containsWords(text, searchWords(query))

describe('M11: what a search finds', () => {
  test.each([
    ['a word', 'the deployment failed', 'deployment', true],
    ['the start of a word', 'the deployment failed', 'depl', true],
    ['not the middle of a word', 'the deployment failed', 'ployment', false],
    ['all words in any order', 'the deployment failed', 'FAILED dep', true],
    ['not some of the words', 'the deployment failed', 'deployment worked', false],
    ['a short word whole', 'we go at ten', 'go at', true],
    ['not the start of a word from two letters', 'we are going', 'go', false],
    ['without case, accents and width', 'Ｇｒüße aus Malmö', 'grusse', true],
    ['without accents', 'Grüße aus Malmö', 'malmo', true],
    ['characters written without spaces', '今日は東京にいます', '東京', true],
    ['a drawn character', 'launch 🚀 today', '🚀', true],
    ['digits', 'ticket 48213 closed', '48213', true],
    ['signs around a word', '“deploy!”', 'deploy', true],
  ])('%s: %s', (_, text, query, found) => expect(holds(text, query)).toBe(found))

  test('is always filed under the terms it is looked for by', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 })
    fc.assert(
      fc.property(text, fc.nat(60), fc.nat(60), (whole, from, length) => {
        const words = searchWords(whole.slice(from, from + length))
        if (!containsWords(whole, words)) return
        const terms = termsOf(whole)
        for (const word of words) expect(terms).toContain(termOf(word))
      }),
      { numRuns: 2_000 },
    )
  })

  test('no term ends in half a character', () => {
    for (const term of termsOf(`${'𝒳'.repeat(9)} ab𐐨𐐨𐐨`)) expect(term.isWellFormed()).toBe(true)
  })
})
