import { table } from './table.ts'

export type { LeanMessage, LeanSent } from '#shared/api/rooms/message'
export type { LeanPerson } from '#shared/api/rooms/room'
export type { LeanBatch, LeanEvent } from '#shared/api/rooms/room-events'
export { AppError } from '#shared/errors'
export { createClient } from './client.ts'
export { sealedLength } from './direct/layout.ts'
export { browserKeys, fileKeys, type KeyStore, memoryKeys } from './direct/store.ts'
export {
  commitTo,
  decryptMedia,
  encryptMedia,
  isCommittedTo,
  mediaIn,
  type NamedMedia,
  type Place,
  placeMarker,
  type UploadedFile,
  uploadEvidence,
  uploadFile,
  uploadImage,
  uploadPicture,
  uploadPixelArt,
  uploadVoice,
} from './media.ts'
export { type LiveRun, type RunState, type RunStatus, type Runs, type RunTool, runsOf } from './runs.ts'
export { memoryStorage } from './storage.ts'
export {
  type LiveNow,
  type LiveStream,
  type LiveStreams,
  type StreamChat,
  type StreamChatView,
  type StreamCount,
  type StreamHealth,
  type StreamOptions,
  type StreamView,
  streamsOf,
} from './streams.ts'
export type * from './types.ts'

/** The events that `client.on` takes. */
export const { events } = table
