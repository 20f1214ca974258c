import { table } from './table.ts'

export { AppError } from '#shared/errors'
export { createClient } from './client.ts'
export { memoryStorage } from './storage.ts'
export type * from './types.ts'

/** What can be listened to with `client.on`. */
export const { events } = table
