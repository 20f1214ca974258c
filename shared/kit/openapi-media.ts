import { type ErrorCode, errors } from '#shared/errors'
import type { JsonSchema } from './json-schema.ts'
import { shapeHeaders } from './refusals.ts'

/** What is kept by a tag, and asked for again with it. */
export const etag = { ETag: { $ref: '#/components/headers/ETag' } }
export const unchanged: JsonSchema = {
  description: 'It is as `If-None-Match` says. There is no body.',
  headers: etag,
}

const bytes = { schema: { type: 'string', format: 'binary' } }
/** Sealed files are of the first type; generators of clients know no ranges of types. */
const content = { 'application/octet-stream': bytes, '*/*': bytes }
const ofFile = {
  ...etag,
  'Accept-Ranges': { description: '`bytes`', schema: { type: 'string' } },
  'Cache-Control': { description: 'A file never changes, and is kept for a year.', schema: { type: 'string' } },
}
const range = {
  'Content-Range': { description: 'Which bytes these are, and of how many.', schema: { type: 'string' } },
}
const inHeader = (name: string, description: string) => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
})
/** A text, where nothing else is said. */
export const inQuery = (name: string, description: string, schema: JsonSchema = { type: 'string' }) => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
})

const fileRefusals: readonly [ErrorCode, string][] = [
  ['VALIDATION_ERROR', 'The path cannot be read.'],
  ['NOT_FOUND', 'There is no such file, or not any more.'],
  ['RATE_LIMIT_EXCEEDED', 'This address asks too often.'],
  ['INTERNAL_ERROR', errors.INTERNAL_ERROR[1]],
  ['UPSTREAM_ERROR', 'The storage failed.'],
]
/** A refusal of what is served beside the operations. */
export const refused = (code: ErrorCode, why: string, more: JsonSchema = {}): JsonSchema => ({
  description: `\`${code}\`: ${why}`,
  headers: { ...shapeHeaders('coded'), ...more },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/CodedError' } } },
})

/** Stored files, which are served beside the operations. */
export const filePath: JsonSchema = {
  get: {
    operationId: 'files.get',
    tags: ['files'],
    summary: 'A file, or a part of it, to whoever has its address: as its upload was answered, or a message names it.',
    security: [{}],
    parameters: [
      {
        name: 'key',
        in: 'path',
        required: true,
        description: 'All that follows `/files/`, with its slashes.',
        example: 'media/channel/0xb7a9…/1795796764836_k0u5webo5n471pydymdpxdi7o.png',
        schema: { type: 'string' },
      },
      inHeader('Range', 'One part, as `bytes=0-1023`.'),
      inHeader('If-Range', 'The `ETag` that the part is to be of; of another file all is answered.'),
      inHeader('If-None-Match', 'The `ETag` that is kept already.'),
    ],
    responses: {
      200: { description: 'The file.', headers: ofFile, content },
      206: { description: 'The part.', headers: { ...ofFile, ...range }, content },
      304: unchanged,
      416: { description: 'The part begins behind the end. There is no body.', headers: range },
      ...Object.fromEntries(fileRefusals.map(([code, why]) => [errors[code][0], refused(code, why)])),
    },
  },
}

const again = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
const location = (description: string) => ({ Location: { description, schema: { type: 'string' } } })
const media = (type: string) => ({ [type]: { schema: { type: 'string' } } })

const inPath = (name: string, description: string) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
})
const whole = { type: 'integer', minimum: 0 }

/** As each of these paths may refuse; where what shows livestreams refuses by itself, there is no body. */
const refusals = {
  400: refused('VALIDATION_ERROR', 'The request cannot be read. There may be no body.'),
  429: refused(
    'RATE_LIMIT_EXCEEDED',
    'This address asks too often, or for too much at a time. There may be no body.',
    again,
  ),
  500: refused('INTERNAL_ERROR', 'Something went wrong. There may be no body.'),
  503: refused('SERVICE_UNAVAILABLE', 'What shows livestreams is away, or full. There may be no body.', again),
}
const isOver = refused('NOT_FOUND', 'There is no such thing, or not any more. There may be no body.')

const key = inPath('key', 'The key of a stream, or a playback; to end, the name that `Location` said.')
const open = { tags: ['streams'], security: [{}] }

/** Where livestreams are published and shown by this server itself. At a provider they have other addresses, and these are 404. */
export const mediaPaths: Record<string, Record<string, JsonSchema>> = {
  '/webrtc/{key}': {
    head: {
      operationId: 'media.whereToOffer',
      ...open,
      summary: 'Where to publish: `Location` of a 307 is asked instead.',
      parameters: [key],
      responses: {
        200: { description: 'Here.' },
        307: { description: 'There.', headers: location('The path to offer to.') },
        ...refusals,
      },
    },
    post: {
      operationId: 'media.offer',
      ...open,
      summary: 'Publish by WHIP (RFC 9725), with the key of a stream; or watch by WHEP, with its playback.',
      parameters: [key],
      requestBody: { description: 'The offer, at most 64 KiB.', required: true, content: media('application/sdp') },
      responses: {
        201: {
          description: 'The answer, with all addresses.',
          headers: location('What ends it, by `DELETE`.'),
          content: media('application/sdp'),
        },
        ...refusals,
        404: refused('INVALID_STREAM_KEY', 'Nothing is published or watched by this name.'),
        406: {
          description: 'The offer has no codec that is taken, or what it names is not shown so. There is no body.',
        },
        413: refused('PAYLOAD_TOO_LARGE', 'The offer is too long.'),
        415: { description: 'It is no `application/sdp`. There is no body.' },
      },
    },
    delete: {
      operationId: 'media.end',
      ...open,
      summary: 'End what was published or watched, by the name that `Location` said.',
      parameters: [key],
      responses: { 200: { description: 'It has ended. There is no body.' }, ...refusals, 404: isOver },
    },
  },
  '/hls/{id}/index.m3u8': {
    get: {
      operationId: 'media.playlist',
      ...open,
      summary: 'A livestream by HLS with low latency: its playlist, which names its parts beside it.',
      parameters: [
        inPath('id', 'The `playback_id` of the stream.'),
        inQuery('_HLS_msn', 'The segment to wait for.', whole),
        inQuery('_HLS_part', 'The part of it to wait for.', whole),
      ],
      responses: {
        200: { description: 'The playlist.', content: media('application/vnd.apple.mpegurl') },
        ...refusals,
        404: isOver,
      },
    },
  },
  '/recordings/{id}.mp4': {
    get: {
      operationId: 'media.recording',
      ...open,
      summary: 'A recording, or a part of it.',
      parameters: [inPath('id', 'The `asset_id` of the recording.'), inHeader('Range', 'One part, as `bytes=0-1023`.')],
      responses: {
        200: { description: 'The recording.', content: media('video/mp4') },
        206: { description: 'The part.', headers: range, content: media('video/mp4') },
        ...refusals,
        404: isOver,
        416: { description: 'The part begins behind the end. There is no body.', headers: range },
      },
    },
  },
}
