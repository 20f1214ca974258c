import type { Context } from '#server/kernel/context'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import type { scheduling as contract } from '#shared/api/meetings/scheduling'
import { AppError } from '#shared/errors'
import type { InputOf, OutputOf } from '#shared/kit/contract'
import { type StoredWindow, Windows } from './model.ts'
import { isZone, type WeeklyWindow } from './open-time.ts'

const windowsAtMost = 50

/** The windows of an account, by day and start. */
export const windowsOf = (account: string): Promise<StoredWindow[]> =>
  Windows.find({ wallet_address: account }).sort({ day_of_week: 1, start_time: 1, _id: 1 }).lean<StoredWindow[]>()

type Given = InputOf<typeof contract.setWindow>

/** Adds a window, or changes the named one. */
export async function setWindow(context: Context, account: string, given: Given): Promise<StoredWindow> {
  const { dayOfWeek, startTime, endTime, timezone, name } = given
  const [start_time, end_time] = [written(startTime), written(endTime)]
  if (end_time <= start_time) throw new AppError('VALIDATION_ERROR', { message: 'endTime must be after startTime' })
  if (timezone !== undefined && !isZone(timezone))
    throw new AppError('VALIDATION_ERROR', { message: 'Unknown timezone' })
  const now = new Date(context.node.now())
  const times = { day_of_week: dayOfWeek, start_time, end_time, updated_at: now }
  if (given.id !== undefined) {
    const kept = { ...(timezone === undefined ? {} : { timezone }), ...(name === undefined ? {} : { name }) }
    return changed(account, given.id, { ...times, ...kept })
  }
  const fields = { ...times, timezone: timezone ?? 'UTC', name: name ?? null, created_at: now }
  const window = { _id: context.creationId, wallet_address: account, ...fields }
  const inserted = await insertWithinLimit(Windows, window, {
    others: { wallet_address: account },
    most: windowsAtMost,
  })
  if (!inserted) throw new AppError('VALIDATION_ERROR', { message: `At most ${windowsAtMost} windows` })
  return inserted
}

async function changed(account: string, _id: string, fields: object): Promise<StoredWindow> {
  const window = await Windows.findOneAndUpdate(
    { _id, wallet_address: account },
    { $set: fields },
    { returnDocument: 'after' },
  ).lean<StoredWindow>()
  if (!window) throw new AppError('NOT_FOUND')
  return window
}

export async function removeWindow(account: string, _id: string): Promise<void> {
  const { deletedCount } = await Windows.deleteOne({ _id, wallet_address: account })
  if (deletedCount === 0) throw new AppError('NOT_FOUND')
}

const written = (time: string) => (time.length === 5 ? `${time}:00` : time)

/** The zone of an account: that of its first window. */
export const zoneOf = async (account: string): Promise<string> => (await windowsOf(account))[0]?.timezone ?? 'UTC'

export function weeklyOf({ day_of_week, start_time, end_time, timezone }: StoredWindow): WeeklyWindow {
  return { day: day_of_week, opens: sinceMidnight(start_time), closes: sinceMidnight(end_time), zone: timezone }
}

function sinceMidnight(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number)
  return ((hours * 60 + minutes) * 60 + seconds) * 1_000
}

export const renderWindow = ({ _id, place, created_at, updated_at, ...window }: StoredWindow): Shown => ({
  id: _id,
  ...window,
  is_active: true,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
})
type Shown = OutputOf<typeof contract.setWindow>['window']
