import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { isVisible, line, nameLine, text } from '#shared/kit/primitives'
import { EmailAddress } from './email.ts'

/** Code points of an inquiry. */
export const inquiryLength = 5_000

export const contact = {
  write: operation({
    summary: 'Write to those who run this installation, who answer by e-mail.',
    http: 'POST /api/contact',
    access: 'public',
    limit: 'contact',
    cost: 'cheap',
    errorBody: 'text',
    repeat: 'harmless',
    whileSuspended: 'protects',
    headers: { 'x-contact-source': 'source' },
    input: z.object({
      name: nameLine(1, 100, 'name is required'),
      email: EmailAddress,
      inquiry: text(inquiryLength, 'inquiry is required').refine(isVisible, { error: 'inquiry is required' }),
      /** The page that it was written on, as the client names it. */
      source: line(0, 100).optional(),
    }),
    output: z.object({ success: z.literal(true), message: z.string() }),
    audit: true,
  }),
}
