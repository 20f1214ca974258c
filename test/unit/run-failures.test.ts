import { describe, expect, test } from 'vitest'
import { cutWords, endWords, failureWords } from '#client/web/agents/agent-words'
import { answerOf } from '#server/domains/agents/runs/answer-lines'
import { CutShort, RunFailure, RunFrame } from '#shared/api/agents/run-frames'

describe('the words of the page for an answer that failed', () => {
  test.each(RunFailure.options)('of %s say why in words of its own, and whether asking again helps', (code) => {
    const { words, isLasting } = endWords(code, '')
    const others = RunFailure.options.filter((other) => other !== code)
    expect(others.map((other) => failureWords[other].why)).not.toContain(failureWords[code].why)
    expect(words).not.toBe(endWords('OF_A_NEWER_VERSION', '').words)
    expect(words).toMatch(/\. .*[Aa]sk/)
    expect(words).not.toContain('kept')
    expect(endWords(code, 'Half').words).toContain('The text so far is kept.')
    expect(isLasting).toBe(code === 'QUESTION_REFUSED' || code === 'CONTEXT_TOO_LONG')
  })

  test('are there for a code that is not known, or none', () => {
    for (const code of ['OF_A_NEWER_VERSION', 'toString', null])
      expect(endWords(code, '')).toEqual({
        words: 'The answer could not be finished. Asking again may help.',
        isLasting: false,
      })
  })

  test('are there where it was cut', () => {
    expect(new Set(CutShort.options.map((how) => cutWords[how])).size).toBe(CutShort.options.length)
  })
})

describe('an answer that failed by a code that this version does not know', () => {
  const last = { run_id: 'run', idx: 0, t: 'error', code: 'OF_A_NEWER_VERSION', text: 'Why', partial_message_id: null }

  test('is read as a frame, and refused where it is waited for', async () => {
    const frame = RunFrame.parse(last)
    async function* frames() {
      yield frame
    }
    await expect(answerOf({ now: () => 0 }, frames())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'Why',
    })
  })
})
