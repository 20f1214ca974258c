import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { lookupsOf } from '#server/domains/rooms/attendance/index'
import type { Node } from '#server/kernel/context'
import { scriptedAttendance } from '#server/ports/attendance/scripted'

const about = { description: null, logoImageUrl: null, bannerImageUrl: null, year: 2026 }

function provider() {
  const script = scriptedAttendance({
    events: [{ id: 1, name: 'Meeting', imageUrl: null }],
    collections: [{ ...about, id: 7, title: 'Evenings', dropIds: [1] }],
  })
  const node = { state: new Map() } as unknown as Node
  const lookups = lookupsOf(node, script)
  return { script, lookups, collections: lookups.collections ?? expect.fail() }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** How often the provider is asked for one question, the second time so many seconds later. */
async function askedOver(script: { asked: string[] }, ask: () => Promise<unknown>, seconds: number): Promise<number> {
  const before = script.asked.length
  await ask()
  vi.advanceTimersByTime(seconds * 1_000)
  await ask()
  return script.asked.length - before
}

test.each([
  ['the events of an address', 300, (of: ReturnType<typeof provider>) => of.lookups.eventsOf('0xholder')],
  ['no events of an address', 30, (of: ReturnType<typeof provider>) => of.lookups.eventsOf('0xnobody')],
  ['that an address holds a token', 60, (of: ReturnType<typeof provider>) => of.lookups.holds('0xholder', 1)],
  ['that an address holds none', 15, (of: ReturnType<typeof provider>) => of.lookups.holds('0xnobody', 1)],
  ['a collection', 300, (of: ReturnType<typeof provider>) => of.collections.get(7)],
  ['that there is no such collection', 30, (of: ReturnType<typeof provider>) => of.collections.get(8)],
  ['the collections of events', 300, (of: ReturnType<typeof provider>) => of.collections.having([1])],
  ['that events have no collections', 30, (of: ReturnType<typeof provider>) => of.collections.having([2])],
] as const)('%s is remembered for %i seconds', async (_what, seconds, ask) => {
  const remembering = provider()
  remembering.script.mint('0xholder', 1)
  expect(await askedOver(remembering.script, () => ask(remembering), seconds - 1)).toBe(1)
  vi.advanceTimersByTime(1_000_000)
  expect(await askedOver(remembering.script, () => ask(remembering), seconds)).toBe(2)
})

test('an address is one question, however its letters are written', async () => {
  const { script, lookups } = provider()
  await lookups.holds('0xABC', 1)
  await lookups.holds('0xabc', 1)
  await lookups.eventsOf('0xAbc')
  await lookups.eventsOf('0xabc')
  expect(script.asked).toEqual(['holds 0xabc 1', 'events 0xabc'])
})
