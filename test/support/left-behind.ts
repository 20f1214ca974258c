import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import mongoose from 'mongoose'

/** Collections that nodes write by themselves. */
const ofNodes = ['room_leases', 'room_heads', 'nodes', 'webhooks', 'webhook_positions']
/** What counts the rows before this one. */
const counting = ['seq', 'total', 'applied_seq', 'joined_seq', 'member_count']

type Row = Record<string, unknown> & { _id: unknown }
type Stored = Map<string, { of: string; row: Row }>

async function stored(): Promise<Stored> {
  const all: Stored = new Map()
  for (const { collection } of Object.values(mongoose.models)) {
    const of = collection.collectionName
    if (ofNodes.includes(of)) continue
    for (const row of (await collection.find({}).toArray()) as Row[]) all.set(`${of} ${row._id}`, { of, row })
  }
  return all
}

/** The stored data once all writes have ended, also background ones. */
async function settled(): Promise<Stored> {
  for (let before = await stored(); ; ) {
    await pause(250)
    const now = await stored()
    if (isDeepStrictEqual(now, before)) return now
    before = now
  }
}

/** The rows that this added, and the fields that it changed in others, by their collections. */
export async function leftBehind(
  account: string,
  work: () => Promise<unknown>,
): Promise<[of: string, what: unknown][]> {
  const before = await settled()
  await work()
  const left = [...(await settled())].flatMap(([key, { of, row }]): [string, unknown][] => {
    const old = before.get(key)?.row
    if (!old) return [[of, inWords(account, row)]]
    const changed = [...new Set([...Object.keys(old), ...Object.keys(row)])].filter(
      (field) => !isDeepStrictEqual(old[field], row[field]),
    )
    return changed.length > 0 ? [[of, { changed: changed.sort() }]] : []
  })
  return left.sort(([one], [other]) => one.localeCompare(other))
}

/** The sent or stored data of an account, with words in place of ids, hashes, counts and times. */
export function inWords(account: string, value: unknown, field = ''): unknown {
  if (value instanceof Date || (typeof value === 'number' && value > 1e12)) return 'a time'
  if (typeof value === 'number' && counting.includes(field)) return 'a count'
  if (typeof value === 'string')
    return value
      .replaceAll(account, 'the account')
      .replaceAll(`${account.slice(0, 6)}…${account.slice(-4)}`, 'the name')
      .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'an id')
      .replace(/\b[0-9a-f]{64}\b/g, 'a hash')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a time')
  if (Array.isArray(value)) return value.map((one) => inWords(account, one, field))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inWords(account, one, name)]))
}
