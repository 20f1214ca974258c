// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { runFrame } from '#shared/api/agents/agent-runs'
import { agents } from '#shared/api/agents/agents'
import { isTerminal } from '#shared/api/agents/run-frames'
import { scheduling } from '#shared/api/meetings/scheduling'
import type { CallOf } from '#shared/kit/contract'
import { type Booted, boot } from '#test/support/boot'
import { connectCalendar } from '#test/support/calendars'
import { codeIn, letterAfter } from '#test/support/letters'
import { over, type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { wallet } from '#test/support/wallet'

const puppet = puppetModel()
const calendars = fakeCalendars()
const hour = 3_600_000
let server: Booted
beforeAll(async () => {
  server = await boot({ environment: { BETA: 'open' }, services: { model: puppet.model, calendars } })
})
afterAll(() => server.close())

let people = 0
const somebody = () => person(server, `host ${++people}`)

/** An agent whose owner has free times all week, in a zone at half an hour; with `booked`, calls can be booked so. */
async function host(more: object = {}, booked?: CallOf<typeof scheduling.configure>) {
  const owner = await somebody()
  if (booked) {
    const email = `host-${people}@example.test`
    const code = codeIn(await letterAfter(server, email, () => owner.rest('POST /api/email/send-code', { email })))
    await owner.rest('POST /api/email/verify-code', { email, code })
    await owner.does('rest', scheduling.configure, { scheduling_enabled: true, ...booked })
  }
  for (let dayOfWeek = 0; dayOfWeek < 7; dayOfWeek++) {
    const window = { dayOfWeek, startTime: '00:00', endTime: '24:00', timezone: 'Asia/Kolkata' }
    await owner.does('rest', scheduling.setWindow, window)
  }
  const named = { name: `Host ${people}`, visibility: 'public', schedulingEnabled: true, ...more } as const
  const { agent } = await owner.does('rest', agents.create, named)
  return { owner, agent }
}

/** The request to the model for a question, the answer over REST, and its frames. */
async function ask(who: Person, agent: string, message: string) {
  const answer = who.does('rest', agents.chat, { id: agent, message })
  const asked = await puppet.asked()
  asked.say('Of course')
  asked.end()
  const { run_id, scheduling: card } = await answer
  const { frames } = await who.does('socket', agents.resume, { run_id, after_idx: -1 })
  return { prompt: JSON.stringify(asked.question), card, frames }
}

test('who asks an agent for an appointment is shown at most 50 free times of its owner, of the next week', async () => {
  const { owner, agent } = await host()
  const who = await somebody()
  const { card, frames, prompt } = await ask(who, agent.id, 'Can I book a call with you?')
  if (!card) throw new Error('No card')
  expect(card).toMatchObject({
    ownerAddress: owner.account,
    freeEnabled: false,
    paidEnabled: false,
    freeDuration: 15,
    paidDuration: 30,
    priceCents: 0,
    timezone: 'Asia/Kolkata',
  })
  expect(card.slots).toHaveLength(50)
  const starts = card.slots.map(({ start }) => Date.parse(start))
  expect(starts).toEqual([...starts].sort((one, other) => one - other))
  expect(Math.min(...starts)).toBeGreaterThan(Date.now() + 23 * hour)
  expect(Math.max(...starts)).toBeLessThan(Date.now() + 7 * 24 * hour)
  expect(Object.values(card.slotsByDate).flat()).toHaveLength(50)
  expect(Object.entries(card.slotsByDate)[0]).toEqual([
    expect.stringMatching(/^[A-Z][a-z]{2}, [A-Z][a-z]{2} \d{1,2}$/),
    expect.arrayContaining(['12:00 AM', '12:30 AM']),
  ])
  // Kolkata is five and a half hours ahead of UTC, all year.
  const local = new Date((starts[0] ?? 0) + 5.5 * hour)
  const [hours, minutes] = [local.getUTCHours(), local.getUTCMinutes()]
  expect(Object.values(card.slotsByDate)[0]?.[0]).toBe(
    `${hours % 12 || 12}:${String(minutes).padStart(2, '0')} ${hours < 12 ? 'AM' : 'PM'}`,
  )
  expect(frames.map((frame) => ('phase' in frame ? frame.phase : frame.t))).toEqual([
    ...['start', 'calendar', 'scheduling', 'generating', 'chunk', 'done'],
  ])
  expect(frames.find(({ t }) => t === 'scheduling')).toMatchObject({ scheduling: card })
  expect(frames.at(-1)).toMatchObject({ scheduling: card })
  expect(prompt).toContain('A card with free times is shown')
})

test('a card has the times of a week where there are fewer', async () => {
  const { owner, agent } = await host()
  const { windows } = await owner.does('rest', scheduling.windows, {})
  for (const { id, day_of_week: dayOfWeek } of windows)
    await owner.does('rest', scheduling.setWindow, { id, dayOfWeek, startTime: '10:00', endTime: '10:30' })
  const { card } = await ask(await somebody(), agent.id, 'Can I book a call with you?')
  const starts = card?.slots.map(({ start }) => Date.parse(start)) ?? []
  expect([5, 6, 7]).toContain(starts.length)
  expect(Math.max(...starts)).toBeLessThan(Date.now() + 7 * 24 * hour)
  expect(Math.max(...starts)).toBeGreaterThan(Date.now() + 5 * 24 * hour)
})

test('a card tells of the calls that its owner takes, and nothing of those that are turned off', async () => {
  const asks = async ({ agent }: Awaited<ReturnType<typeof host>>) =>
    (await ask(await somebody(), agent.id, 'Can I book a call with you?')).card
  const given = {
    scheduling_free_duration_minutes: 20,
    scheduling_paid_enabled: true,
    scheduling_paid_duration_minutes: 45,
    scheduling_price_cents: 2500,
    scheduling_wallet_address: wallet('paid host').address,
  }
  const taken = await host({}, given)
  const paid = { paidEnabled: true, paidDuration: 45, priceCents: 2500 }
  expect(await asks(taken)).toMatchObject({ freeEnabled: true, freeDuration: 20, ...paid })
  await taken.owner.does('rest', scheduling.configure, { scheduling_free_enabled: false })
  expect(await asks(taken)).toMatchObject({ freeEnabled: false, freeDuration: 15, ...paid })
  const none = { paidEnabled: false, paidDuration: 30, priceCents: 0 }
  await taken.owner.does('rest', scheduling.configure, {
    scheduling_free_enabled: true,
    scheduling_paid_enabled: false,
  })
  expect(await asks(taken)).toMatchObject({ freeEnabled: true, freeDuration: 20, ...none })
  await taken.owner.does('rest', scheduling.configure, { scheduling_enabled: false, scheduling_paid_enabled: true })
  const off = await asks(taken)
  expect(off).toMatchObject({ freeEnabled: false, freeDuration: 15, ...none })
  expect(off?.slots.length).toBeGreaterThan(0)
})

test.each(over)('a card stays in the history, until that is deleted, over %s', async (door) => {
  const { agent } = await host()
  const who = await somebody()
  const { card } = await ask(who, agent.id, 'Can I book a call with you?')
  const cards = async () =>
    (await who.does(door, agents.history, { id: agent.id })).chats.map(({ scheduling }) => scheduling)
  await expect.poll(cards).toEqual([null, card])
  await who.does(door, agents.forget, { id: agent.id })
  expect((await who.does(door, agents.history, { id: agent.id })).chats).toEqual([])
})

test('a short answer after it is shown them again, and another question is not', async () => {
  const { agent } = await host()
  const who = await somebody()
  expect((await ask(who, agent.id, 'yes please')).card).toBeNull()
  expect((await ask(who, agent.id, 'Ich hätte gern einen Termin')).card).not.toBeNull()
  expect((await ask(who, agent.id, 'yes please')).card).not.toBeNull()
  const other = await ask(who, agent.id, 'What do you know about tea?')
  expect(other.card).toBeNull()
  expect(other.frames.some(({ t }) => t === 'scheduling')).toBe(false)
  expect(other.prompt).not.toContain('A card with free times')
})

test('nobody is shown any where the agent does not schedule, or its owner has set no times', async () => {
  const [off, who] = [await host({ schedulingEnabled: false }), await somebody()]
  expect((await ask(who, off.agent.id, 'Can I book a call?')).card).toBeNull()
  const unset = await host()
  const { windows } = await unset.owner.does('rest', scheduling.windows, {})
  for (const { id } of windows) await unset.owner.does('rest', scheduling.removeWindow, { id })
  expect((await ask(who, unset.agent.id, 'Can I book a call?')).card).toBeNull()
})

test('T28: busy times are left out of what people are shown, and neither they nor the free times are in any prompt', async () => {
  const { owner, agent } = await host()
  const who = await somebody()
  const before = await ask(who, agent.id, 'Can I book a call?')
  const [first] = before.card?.slots ?? []
  const busy = Date.parse(first?.start ?? '')
  await connectCalendar(owner)
  calendars.kept.set(owner.account, [{ start: busy, end: busy + hour }])
  const after = await ask(who, agent.id, 'Are you free at another time?')
  expect(after.card?.slots[0]?.start).toBe(new Date(busy + 1.5 * hour).toISOString())
  const confirmed = await ask(who, agent.id, 'yes')
  const shown = [...(before.card?.slots ?? []), ...(after.card?.slots ?? [])]
  expect(shown.length).toBeGreaterThan(50)
  const times = [...new Set(shown.flatMap(({ start, end }) => [start, end]))]
  const labels = [before.card, after.card].flatMap((card) => Object.entries(card?.slotsByDate ?? {}).flat(2))
  for (const prompt of [before.prompt, after.prompt, confirmed.prompt]) {
    for (const time of times) expect(prompt).not.toContain(time.slice(0, 16))
    for (const label of labels) expect(prompt).not.toContain(label)
    expect(prompt).not.toContain(`${busy}`)
  }
})

test('while the calendar of the owner does not answer, a card without times is shown', async () => {
  const { owner, agent } = await host()
  await connectCalendar(owner)
  calendars.away = 'TIMEOUT'
  const { card } = await ask(await somebody(), agent.id, 'Can I book a call?')
  calendars.away = null
  expect(card).toMatchObject({ slots: [], slotsByDate: {} })
})

test('frames of a card reach a connection as they come', async () => {
  const { agent } = await host()
  const who = await somebody()
  const line = await who.line('/agents')
  const { run_id } = await who.does('socket', agents.run, { agent_id: agent.id, message: 'Can we meet on Friday?' })
  const card = await line.hears(runFrame, (frame) => frame.run_id === run_id && frame.t === 'scheduling')
  const asked = await puppet.asked()
  asked.say('Of course.')
  asked.end()
  const end = await line.hears(runFrame, (frame) => frame.run_id === run_id && isTerminal(frame))
  expect(end).toMatchObject({ t: 'done', scheduling: (card as { scheduling: object }).scheduling })
})
