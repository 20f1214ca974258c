import { defineGate } from '#server/domains/rooms/gates/define'
import { walletsOf } from '#server/domains/rooms/tokens/wallets'
import type { Node } from '#server/kernel/context'
import type { AttendanceGate } from '#shared/api/rooms/gates'
import { lookupsOf } from './lookups.ts'
import { attendanceSettings } from './settings.ts'
import { tokenOf } from './token.ts'

/** The longest reuse of a negative answer, so that a new token's owner gets in soon. */
const noForSeconds = 15

export const attendanceGate = defineGate('attendance', {
  lasts: (node) => attendanceSettings.of(node).isRechecked && node.services.attendance !== null,
  named: async ({ node, account, gate }) => ({ ...gate, ...(await tokenOf(node, account, gate)) }),
  async check({ node, account, gate, fresh }) {
    const token = `the attendance token “${gate.name}”`
    const look = lookIn(node, gate, fresh)
    if (!look)
      return {
        passed: false,
        text: `Attendance verification is not configured here, and ${token} is needed to join this channel`,
        checked: [],
        details: {},
      }
    const wallets = await walletsOf(account)
    const looked = await Promise.allSettled(
      wallets.map(async (wallet) => ({ ...wallet, ...(await look(wallet.address)) })),
    )
    const found = looked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const passed = found.some(({ holds }) => holds)
    // One address with the token suffices. Without one, a failed look-up leaves the answer open.
    const failed = looked.find((one) => one.status === 'rejected')
    if (!passed && failed) throw failed.reason
    const youngest = Math.max(0, ...found.map(({ ageSeconds }) => ageSeconds))
    return {
      passed,
      text: passed ? `You hold ${token}` : `You need ${token} to join this channel, and must hold it in your wallet`,
      checked: found.map(({ address, holds, ageSeconds }) => ({
        requirement: token,
        subject: address,
        result: holds ? 'holds it' : 'does not hold it',
        source: 'attendance provider',
        cached_age_s: ageSeconds,
      })),
      details: passed || youngest === 0 ? {} : { retry_after_s: Math.max(1, noForSeconds - youngest) },
    }
  },
})

interface LookupResult {
  holds: boolean
  ageSeconds: number
}

/** The look-up of an address; null if no provider is configured. */
function lookIn(
  node: Node,
  { event_id, collection_id }: AttendanceGate,
  fresh: boolean,
): null | ((address: string) => Promise<LookupResult>) {
  const { attendance } = node.services
  const lookups = attendance && lookupsOf(node, attendance)
  if (!lookups) return null
  const atMostSeconds = fresh ? 0 : noForSeconds
  const anyOf = async (address: string, ids: readonly number[]): Promise<LookupResult> => {
    const { answer, ageSeconds } = await lookups.eventsOf(address, atMostSeconds)
    return { holds: answer.some(({ id }) => ids.includes(id)), ageSeconds }
  }
  if (event_id !== undefined)
    return async (address) => {
      const { answer, ageSeconds } = await lookups.holds(address, event_id, fresh ? 0 : undefined)
      // After a negative answer for the event, the whole list is searched too.
      return answer ? { holds: true, ageSeconds } : anyOf(address, [event_id])
    }
  const { collections } = lookups
  if (!collections || collection_id === undefined) return null
  return async (address) => {
    const { answer } = await collections.get(collection_id)
    return anyOf(address, answer?.dropIds ?? [])
  }
}
