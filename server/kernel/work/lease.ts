import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { Model, QueryFilter, UpdateQuery } from '#server/ports/database/port'

/** The stored names of the two fields of a lease. A lease expires unless it is renewed. */
export interface Lease<Stored> {
  model: Model<Stored>
  holder: keyof Stored & string
  held_until: keyof Stored & string
  milliseconds: number
  /** A document without a holder can be taken before `held_until`, which then says when it is due. */
  isFreeUnheld?: boolean
}

type Clock = Pick<Node, 'now'>

/** A document under a lease. A change applies only while we hold the lease, and returns whether it did. */
export interface LeasedDocument<Stored> {
  /** Aborted when another holder may have the document. */
  signal: AbortSignal
  change(update: UpdateQuery<Stored>): Promise<boolean>
  /** Releases the document by its last change; null deletes it. */
  end(update: UpdateQuery<Stored> | null): Promise<boolean>
}

/** The fields of a document that is created under a lease. */
export const newLease = <Stored>({ holder, held_until, milliseconds }: Lease<Stored>, { now }: Clock) =>
  ({ [holder]: newId(), [held_until]: new Date(now() + milliseconds) }) as Partial<Stored>

/** Takes a lease on a free document; null where another holder has it. */
export function takeLease<Stored>(
  lease: Lease<Stored>,
  clock: Clock,
  filter: QueryFilter<Stored>,
  { $set, ...update }: UpdateQuery<Stored> = {},
): Promise<Stored | null> {
  const expired = { [lease.held_until]: { $lte: new Date(clock.now()) } }
  const free = lease.isFreeUnheld ? { $or: [{ [lease.holder]: null }, expired] } : expired
  return lease.model
    .findOneAndUpdate(
      { ...filter, ...free },
      { ...update, $set: { ...newLease(lease, clock), ...$set } },
      { returnDocument: 'after' },
    )
    .lean<Stored>()
}

/**
 * Works under a lease that was taken, and renews it until the work ends or the node stops. A document that the work has not released is
 * free afterwards.
 */
export async function withLease<Stored extends { _id: string }, Done>(
  { model, holder, held_until, milliseconds }: Lease<Stored>,
  { now }: Clock,
  taken: Stored,
  work: (held: LeasedDocument<Stored>) => Promise<Done>,
  stopping?: AbortSignal,
): Promise<Done> {
  const ours = { _id: taken._id, [holder]: taken[holder] } as QueryFilter<Stored>
  const lost = new AbortController()
  const signal = stopping ? AbortSignal.any([lost.signal, stopping]) : lost.signal
  let renewing: Promise<unknown> = Promise.resolve()
  let isHeld = true
  const change = async (update: UpdateQuery<Stored>) => (await model.updateOne(ours, update)).matchedCount === 1
  const holdUntil = (time: number) => change({ $set: { [held_until]: new Date(time) } } as UpdateQuery<Stored>)
  const renewal = setInterval(() => {
    if (signal.aborted) return
    renewing = holdUntil(now() + milliseconds).then(
      (isOurs) => isOurs || lost.abort(),
      () => undefined,
    )
  }, milliseconds / 4).unref()
  async function end(update: UpdateQuery<Stored> | null): Promise<boolean> {
    const wasOurs = update ? await change(update) : (await model.deleteOne(ours)).deletedCount === 1
    isHeld = false
    return wasOurs
  }
  try {
    return await work({ signal, change, end })
  } finally {
    clearInterval(renewal)
    await renewing
    if (isHeld) await holdUntil(0).catch(() => undefined)
  }
}
