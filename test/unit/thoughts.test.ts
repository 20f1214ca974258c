import { describe, expect, it } from 'vitest'
import { withoutThoughts } from '#server/ports/model/thoughts'

/** What is left of an answer, in whatever pieces it comes. */
const leftOf = (text: string): string => readOf(text).left

/** The same, and how many calls of tools were left out. */
function readOf(text: string): { left: string; calls: number } {
  const ways = [1, 2, 3, 7, text.length].map((length) => {
    const read = withoutThoughts()
    let left = ''
    for (let at = 0; at < text.length; at += length) {
      const { unsaid, said } = read(text.slice(at, at + length))
      left = left.slice(0, left.length - unsaid) + said
    }
    left += read.rest()
    return { left, calls: read.calls() }
  })
  for (const way of ways) expect(way).toEqual(ways[0])
  return ways[0] ?? expect.fail()
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

const call = '{"name": "find_train", "arguments": {"city": "Rome"}}'

describe('O20: a call of a tool that is text', () => {
  it.each([
    [`<tool_call>\n${call}\n</tool_call>`, '', 1],
    [`I look.\n<tool_call>\n${call}\n</tool_call>\n<tool_call>${call}</tool_call>\nAt noon.`, 'I look.\nAt noon.', 2],
    [`I look. <Tool_Call>${call}</TOOL_CALL> At noon.`, 'I look. At noon.', 1],
    [`<tool_call>[${call}]</tool_call>At noon.`, 'At noon.', 1],
    ['<tool_call>\n<function=find_train>\n<parameter=city>\nRome\n</parameter></function></tool_call>', '', 1],
    ['<tool_call>find_train\n<arg_key>city</arg_key><arg_value>Rome</arg_value></tool_call>At noon.', 'At noon.', 1],
    [`I look.\n<tool_call>${call}`, 'I look.\n', 1],
    [`<|python_tag|>${call}<|eom_id|>`, '', 1],
    ['I look.\n<|python_tag|>find_train.call(city="Rome")', 'I look.\n', 1],
    [`[TOOL_CALLS][${call}]`, '', 1],
    [`I look.[TOOL_CALLS] [ ${call}]</s>`, 'I look.', 1],
    ['[TOOL_CALLS]find_train[ARGS]{"city": "Rome"}[TOOL_CALLS]find_bus{}', '', 1],
    [
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find<｜tool▁calls▁end｜>At noon.',
      'At noon.',
      1,
    ],
    [`<think>I look.\n<tool_call>${call}</tool_call></think>At noon.`, 'At noon.', 0],
    [`I look.\n<tool_call>${call}</tool_call></think>At noon.`, 'At noon.', 1],
    [`<think>a</think>I look.<tool_call>${call}</tool_call><think>b</think> At noon.`, 'I look. At noon.', 1],
  ])('%j is left out', (text, left, calls) => expect(readOf(text)).toEqual({ left, calls }))

  it.each([
    `\`<tool_call>${call}</tool_call>\` is how Qwen asks.`,
    `\`\`\`\n<tool_call>\n${call}\n</tool_call>\n\`\`\``,
    'Between <tool_call> and </tool_call> is the call.',
    'It is written <tool_call></tool_call>, with the call within.',
    '<tool_call> is a mark.\nIt comes first.',
    'a\n<tool_call>',
    'The mark [TOOL_CALLS] is of Mistral, see [tool_calls](#a) and [tool_calls][1].',
    '<|python_tag|> is of Llama',
    '[1], [tool] and [TOOL_CALLS',
  ])('%j is all said', (text) => expect(readOf(text)).toEqual({ left: text, calls: 0 }))
})
