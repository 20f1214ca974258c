import { z } from 'zod'
import { operation } from '#shared/kit/contract'

const symbolsAtMost = 20
/** In any case; commas and spaces too many say nothing. */
const Symbols = z
  .string()
  .max(200)
  .regex(/^(?:[A-Za-z0-9]{1,10}(?![A-Za-z0-9])|[\s,])*$/, { error: 'symbols: separated by commas, such as ETH,BNB' })
  .default('ETH')
  .transform((list) => [...new Set(list.toUpperCase().match(/[A-Z0-9]+/g) ?? ['ETH'])])
  .refine((symbols) => symbols.length <= symbolsAtMost, { error: `symbols: at most ${symbolsAtMost}` })

export const prices = {
  read: operation({
    summary:
      'What coins cost in US dollars, as of at most a minute ago; null of one that is not known, or while the source gives no answer. Known are ETH, BNB, MATIC and AVAX.',
    http: 'GET /api/prices',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ symbols: Symbols }),
    output: z.object({
      prices: z.record(z.string(), z.number().nullable()),
      /** When the source was asked, in milliseconds. */
      timestamp: z.number().int(),
    }),
  }),
}
