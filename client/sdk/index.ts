import { table } from './table.ts'

export type { LeanMessage } from '#shared/api/message'
export type { LeanPerson } from '#shared/api/room'
export type { LeanBatch, LeanEvent } from '#shared/api/room-events'
export type { LeanSent } from '#shared/api/sent'
export { AppError } from '#shared/errors'
export { createClient } from './client.ts'
export { memoryStorage } from './storage.ts'
export type * from './types.ts'

/** The events that `client.on` takes. */
export const { events } = table
