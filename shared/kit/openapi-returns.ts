import type { JsonSchema } from './json-schema.ts'
import { inQuery, refused } from './openapi-files.ts'

/** Where other sites lead browsers back to. */
export const returnPaths: Record<string, Record<string, JsonSchema>> = {
  '/api/calendar/callback': {
    get: {
      operationId: 'calendar.callback',
      tags: ['calendar'],
      summary: 'Where the provider of a calendar leads the browser back to that went there by `authUrl`.',
      security: [{}],
      parameters: [
        inQuery('code', 'What the provider gives.'),
        inQuery('state', 'What was sent to it.'),
        inQuery('error', 'Why it gives nothing.'),
      ],
      responses: {
        302: {
          description: 'To the page, with `calendar_connected=true`, or with why not in `calendar_error`.',
          headers: { Location: { description: 'The page.', schema: { type: 'string' } } },
        },
        400: refused('VALIDATION_ERROR', 'The request cannot be read.'),
        429: refused('RATE_LIMIT_EXCEEDED', 'This address asks too often.', {
          'Retry-After': { $ref: '#/components/headers/Retry-After' },
        }),
        500: refused('INTERNAL_ERROR', 'Something went wrong.'),
      },
    },
  },
}
