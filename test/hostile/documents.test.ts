// Modes: embedded
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, describe, expect, test } from 'vitest'
import { processReader } from '#server/ports/reader/local'

const reader = processReader()
afterAll(() => reader.close())

const hostile = {
  '50,000 attributes': `<p ${Array.from({ length: 50_000 }, (_, at) => `a${at}="${at}"`).join(' ')}>text</p>`,
  '20,000 nested elements': `${'<div>'.repeat(20_000)}text`,
  '100,000 links': '<a href="/x">x</a>'.repeat(100_000),
  'tags without an end': '<'.repeat(2_000_000),
  'entities without an end': '&#x'.repeat(600_000),
  '2 MB of nested tables': '<table><tr><td>'.repeat(130_000),
  'cells over a thousand rows': `<table><tr>${'<td rowspan=1000>a'.repeat(50_000)}${'<tr><td>'.repeat(100_000)}`,
  'cells over a thousand columns': `<table>${'<tr><td colspan=1000>a'.repeat(90_000)}`,
  'tables in the cells of tables': `<table><tr><td>${'a'.repeat(500_000)}`.repeat(4),
  'code without an end': '<pre>'.repeat(60_000),
  'fences without an end': '```\n~~~\n'.repeat(250_000),
  'links of Markdown without an end': '[['.repeat(500_000) + '](('.repeat(300_000),
  'comments without an end': '<!--'.repeat(500_000),
  'runs of letters': `${'x'.repeat(399)} `.repeat(5_000),
  '60,000 unclosed formattings': '<b><i><u>'.repeat(60_000),
}

describe.each(['page', 'article', 'markdown', 'text'] as const)('T64: a document that costs, read as a %s', (as) => {
  test.each(Object.entries(hostile))('%s takes 2 s at the most, and holds up nothing else', async (_what, html) => {
    await reader.read(as, '<p>warm')
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    const begun = performance.now()
    await reader.read(as, html).catch(({ code }) => expect(code).toMatch(/TIMEOUT|UPSTREAM_ERROR/))
    delay.disable()
    // Ten times what is promised, as tests share their machine.
    expect(performance.now() - begun).toBeLessThan(20_000)
    expect(delay.percentile(99) / 1e6).toBeLessThan(1_500)
    expect((await reader.read('page', '<p>still here')).text).toBe('still here')
  })
})
