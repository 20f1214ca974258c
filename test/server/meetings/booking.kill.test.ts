import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { booking } from '#shared/api/meetings/booking'
import { scheduling } from '#shared/api/meetings/scheduling'
import { asGuest, guestOf, inThreeDays, openAlways, verifyEmail } from '#test/support/bookings'
import { lettersTo } from '#test/support/letters'
import { paymentOf } from '#test/support/payments'
import { personAt } from '#test/support/people'
import { build } from '#test/support/programs'
import { openFacilitator } from '#test/support/providers'
import { started } from '#test/support/started'
import { wallet } from '#test/support/wallet'

beforeAll(build)

const directories: string[] = []
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

async function start(environment: Record<string, string>) {
  const server = await started({ RATE_LIMIT_SCALE: '1000', MAIL_URL: 'captured', ...environment })
  children.push(server.process)
  return server
}

const callsTold = async (server: { url: string }, email: string, what = 'booked') =>
  (await lettersTo(server, email)).filter(({ subject }) => subject === `A call is ${what}`).length

test.each(['payment-asked', 'payment-answered', 'payment-settled', 'call-booked'])(
  'a server that dies at %s charges for a call once, and books and tells of it after, though its host takes no calls any more',
  async (place) => {
    const facilitator = await openFacilitator()
    onTestFinished(() => facilitator.close())
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'plaza-booking-'))
    directories.push(DATA_DIR)
    const environment = { DATA_DIR, X402_FACILITATOR_URL: facilitator.url }
    const dying = await start({ ...environment, FAILPOINT: place })
    const [host, booker] = [await personAt(dying.url, 'kill host'), await personAt(dying.url, 'kill booker')]
    await verifyEmail(dying, host, 'kill.host@example.test')
    await host.does('rest', scheduling.configure, {
      ...{ scheduling_enabled: true, scheduling_paid_enabled: true, scheduling_price_cents: 555 },
      ...{ scheduling_network: 'base-sepolia', scheduling_wallet_address: host.account },
    })
    await openAlways(host)
    const asked = {
      ...{ recipientAddress: host.account, scheduledAt: inThreeDays(9), isPaid: true },
      paymentHeader: await paymentOf(wallet('kill payer of calls'), { to: host.account, value: '5550000' }),
    }
    const died = once(dying.process, 'exit')
    expect(await booker.tries('rest', booking.schedule, asked).catch(() => null)).toBeNull()
    expect((await died)[1]).toBe('SIGKILL')

    const after = await start(environment)
    const [seller, payer] = [await personAt(after.url, 'kill host'), await personAt(after.url, 'kill booker')]
    await seller.does('rest', scheduling.configure, { scheduling_enabled: false })
    const booked = { status: 'confirmed', is_paid: true, payment_status: 'paid' }
    const callsOf = async (who: typeof seller) => (await who.does('rest', booking.calls, {})).calls
    for (const who of [seller, payer])
      await expect.poll(() => callsOf(who), { timeout: 60_000 }).toMatchObject([booked])
    expect(await payer.does('rest', booking.schedule, asked)).toMatchObject(booked)
    expect(facilitator.charged).toHaveLength(1)
    await expect.poll(() => callsTold(after, 'kill.host@example.test'), { timeout: 60_000 }).toBe(1)
  },
)

test('a server that dies when a call is booked, and nobody was told, tells both of it after', async () => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'plaza-booking-'))
  directories.push(DATA_DIR)
  const dying = await start({ DATA_DIR, FAILPOINT: 'call-booked' })
  const host = await personAt(dying.url, 'kill free host')
  await verifyEmail(dying, host, 'kill.free@example.test')
  await host.does('rest', scheduling.configure, { scheduling_enabled: true })
  await openAlways(host)
  const asked = { recipientAddress: host.account, scheduledAt: inThreeDays(9), ...guestOf('Kill Guest') }
  const died = once(dying.process, 'exit')
  expect(await asGuest(dying.url, asked).catch(() => null)).toBeNull()
  expect((await died)[1]).toBe('SIGKILL')

  const after = await start({ DATA_DIR })
  for (const email of [asked.guestEmail, 'kill.free@example.test'])
    await expect.poll(() => callsTold(after, email), { timeout: 60_000 }).toBe(1)
})

test('a server that dies when a call is cancelled, and nobody was told, tells both of it after', async () => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'plaza-booking-'))
  directories.push(DATA_DIR)
  const dying = await start({ DATA_DIR, FAILPOINT: 'call-cancelled' })
  const host = await personAt(dying.url, 'kill cancelling host')
  await verifyEmail(dying, host, 'kill.cancels@example.test')
  await host.does('rest', scheduling.configure, { scheduling_enabled: true })
  await openAlways(host)
  const asked = { recipientAddress: host.account, scheduledAt: inThreeDays(9), ...guestOf('Kill Cancelled') }
  const { id } = booking.schedule.output.parse((await asGuest(dying.url, asked)).body)
  const died = once(dying.process, 'exit')
  expect(await host.tries('rest', booking.cancel, { id, status: 'cancelled' }).catch(() => null)).toBeNull()
  expect((await died)[1]).toBe('SIGKILL')

  const after = await start({ DATA_DIR })
  for (const email of [asked.guestEmail, 'kill.cancels@example.test'])
    await expect.poll(() => callsTold(after, email, 'cancelled'), { timeout: 60_000 }).toBe(1)
})
