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
export const range = {
  'Content-Range': { description: 'Which bytes these are, and of how many.', schema: { type: 'string' } },
}
export const inHeader = (name: string, description: string) => ({
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

const refusals: readonly [ErrorCode, string][] = [
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
      ...Object.fromEntries(refusals.map(([code, why]) => [errors[code][0], refused(code, why)])),
    },
  },
}
