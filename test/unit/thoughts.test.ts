import { describe, expect, it } from 'vitest'
import { withoutThoughts } from '#server/ports/model/thoughts'

/** What is left of an answer, in whatever pieces it comes. */
function leftOf(text: string): string {
  const ways = [1, 2, 3, 7, text.length].map((length) => {
    const read = withoutThoughts()
    let left = ''
    for (let at = 0; at < text.length; at += length) {
      const { unsaid, said } = read(text.slice(at, at + length))
      left = left.slice(0, left.length - unsaid) + said
    }
    return left + read.rest()
  })
  expect(new Set(ways).size).toBe(1)
  return ways[0] ?? ''
}

describe('O20: of an answer', () => {
  it.each([
    ['<think>They want a fox.</think>\n\nA fox.', 'A fox.'],
    ['\n<think>\nThey want\na fox.\n</think>A fox.', '\nA fox.'],
    ['<THINK>x</Think> A fox.', 'A fox.'],
    ['<thinking>x</thinking>A fox.', 'A fox.'],
    ['<reasoning>x</reasoning>A fox.', 'A fox.'],
    ['[THINK]x[/THINK]A fox.', 'A fox.'],
    ['<think>a</think>\n<think>b</think>\nA fox.', 'A fox.'],
    ['<think></think>A fox.', 'A fox.'],
    ['<think>a < b and </thin> too</think>A fox.', 'A fox.'],
    ['A fox.\n<think>Or an owl?</think>\nOr an owl.', 'A fox.\nOr an owl.'],
    ['<think>a</think>A fox. <think>Or an owl?</think> Or an owl.', 'A fox. Or an owl.'],
    ['<think>a</think>A fox.<think>b</think> Or <Think>c</think>an owl.<think>d</think>', 'A fox. Or an owl.'],
    ['<think>a</think>A fox. <reasoning>b\n\nc</reasoning>\nAn owl.', 'A fox. An owl.'],
    ['<think>a</think>> <think>b</think>A fox.', '> A fox.'],
    ['They want</think>A fox. [think]b[/think]An owl. <think>c</think>', 'A fox. An owl. '],
    [
      '<think>a</think>Between `<think>` and `</think>` is a thought.',
      'Between `<think>` and `</think>` is a thought.',
    ],
    ['<think>a</think>```\n<p> <think>b</think>\n```', '```\n<p> <think>b</think>\n```'],
    ['<think>a</think>The tag <think> is never closed', 'The tag <think> is never closed'],
    ['They want a fox.</think>A fox.', 'A fox.'],
    ['They want\n\na `fox`.\n</think>\n\nA fox.', 'A fox.'],
    ['İ want</THINK>A fox.\n</think>', 'A fox.\n</think>'],
    ['They want[/THINK]A fox.', 'A fox.'],
    ['◁think▷They want◁/think▷A fox.', 'A fox.'],
    ['They want◁/think▷A fox.', 'A fox.'],
    ['<seed:think>x</seed:think>A fox.', 'A fox.'],
    ['<|START_THINKING|>x<|END_THINKING|>A fox.', 'A fox.'],
    ['<unused94>thought\nThey want<unused95>A fox.', 'A fox.'],
    ['<|channel>thought\nThey want<channel|>A fox.', 'A fox.'],
    ['<think>a<think>b</think>c</think>A fox.', 'A fox.'],
    ['<think>a\n<think>b</think>c<think></think></think>\nA fox.', 'A fox.'],
    ['<think>The mark is <think>.</think>A fox.', 'A fox.'],
    ['<think>a<think>b</think>', ''],
    [
      '<|channel|>analysis<|message|>They want<|end|><|start|>assistant<|channel|>final<|message|>A fox.<|return|>',
      'A fox.',
    ],
    ['analysis<|message|>They want<|end|><|start|>assistant<|channel|>final<|message|>A fox.', 'A fox.'],
    ['<|start|>assistant<|channel|>final<|message|>A\nfox.<|end|><|start|>assistant', 'A\nfox.'],
    ['<|channel|>final<|message|>`A|>` fox.<|return|>', '`A|>` fox.'],
    ['<|channel|>analysis<|message|>They want', ''],
    // Cut off while it thought.
    ['<think>They want', ''],
  ])('%j is %j', (text, left) => expect(leftOf(text)).toBe(left))

  it.each([
    'A fox.',
    '',
    'In HTML <think> is no element.',
    'a\n<think> is the name of a tag that is never closed',
    '```xml\n<think>x</think>\n```\nThat is how.',
    '~~~\n<think>x</think>\n~~~',
    '<thin>x</thin>',
    '[thinker] says',
    '`<think>` is a tag, `</think>` its end',
    'a\n``` \nb',
    '<',
    'a <',
    'a </thi',
    'It is `a` and `</think>` there.',
    'a\n```\n</think>\n```',
    'a <|end|> b',
  ])('%j is all said', (text) => expect(leftOf(text)).toBe(text))
})
