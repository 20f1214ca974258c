import { createHash } from 'node:crypto'
import { accountOf } from '#server/domains/accounts/accounts'
import { postLetter } from '#server/domains/outgoing/index'
import { Bookings, type StoredBooking } from '#server/domains/scheduling/model'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import { saidOfPayment, summaryOf, timeIn } from './letters.ts'

const lookMilliseconds = 10_000
const hostsAtOnce = 20
const callsInLetter = 100

/** Writes hosts of the calls for which there would have been too many letters: one letter about all of them, an hour after the first. */
export function keepWriting(node: Node): () => void {
  async function look(): Promise<void> {
    if (!node.services.mail) return
    const due = await Bookings.find({ write_at: { $lte: new Date(node.now()) } }, { recipient_wallet_address: 1 })
      .sort({ write_at: 1 })
      .limit(hostsAtOnce)
      .lean<Pick<StoredBooking, 'recipient_wallet_address'>[]>()
    const hosts = new Set(due.map(({ recipient_wallet_address }) => recipient_wallet_address))
    await Promise.all([...hosts].map((host) => write(node, host)))
  }
  return every(node, lookMilliseconds, look, 'hosts were not written of their calls')
}

async function write(node: Node, host: string): Promise<void> {
  const calls = await Bookings.find({ recipient_wallet_address: host, write_at: { $exists: true } })
    .sort({ scheduled_at: 1 })
    .limit(callsInLetter)
    .lean<StoredBooking[]>()
  if (calls.length === 0) return
  const to = (await accountOf(host))?.email
  if (to) {
    const said = await Promise.all(calls.map((call) => saidOf(node, call)))
    const text = `${said.join('\n\n')}\n`
    await postLetter(node, { to, subject: 'Calls were booked or cancelled', text }, idOf(calls))
  }
  // One that has changed since is written of again.
  const seen = new Date(Math.max(...calls.map(({ write_at }) => write_at?.getTime() ?? 0)))
  const written = { _id: { $in: calls.map(({ _id }) => _id) }, write_at: { $lte: seen } }
  await Bookings.updateMany(written, { $unset: { write_at: '' } })
}

/** Of the same calls, so that two nodes which look at once write one letter. */
const idOf = (calls: readonly StoredBooking[]): string =>
  createHash('sha256')
    .update(JSON.stringify(calls.map(({ _id, status, write_at }) => [_id, status, write_at])))
    .digest('base64url')

async function saidOf(node: Node, call: StoredBooking): Promise<string> {
  const isOn = call.status !== 'cancelled'
  const time = `${await timeIn(call, 'host')}\n${call.duration_minutes} minutes`
  const lines = [`${summaryOf(call)} is ${isOn ? 'booked' : 'cancelled'}:`, time]
  return [...lines, ...(isOn ? [`${node.settings.publicUrl}/join/${call.invite_token}`] : saidOfPayment(call))].join(
    '\n',
  )
}
