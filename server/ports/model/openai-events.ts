import OpenAI from 'openai'
import { z } from 'zod'
import type { StreamPiece } from './openai-parts.ts'

const count = z.int().min(0).nullish().catch(null)
const Ended = z.object({
  response: z.object({
    incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
    usage: z.object({ input_tokens: count, output_tokens: count }).nullish().catch(null),
  }),
})
const Delta = z.object({ delta: z.string() })
const Annotated = z.object({ annotation: z.unknown() })
const ItemDone = z.object({
  output_index: z.int().min(0),
  item: z.union([
    z.object({ type: z.literal('function_call'), call_id: z.string(), name: z.string(), arguments: z.string() }),
    z.object({ type: z.string().refine((type) => type !== 'function_call') }),
  ]),
})
const why = z.string().nullish().catch(null)
const Broken = z.object({
  code: why,
  response: z
    .object({ error: z.object({ code: why }).nullish() })
    .nullish()
    .catch(null),
})
const Event = z.object({ type: z.string() })

/** The relevant content of each event of the Responses interface; reasoning, searches and parts only show progress. */
const readers: Readonly<Record<string, (event: unknown) => StreamPiece>> = {
  'response.output_text.delta': (event) => ({ text: Delta.parse(event).delta }),
  'response.refusal.delta': (event) => ({ text: Delta.parse(event).delta }),
  'response.output_text.annotation.added': (event) => ({ sources: [[Annotated.parse(event).annotation]] }),
  'response.output_item.done'(event) {
    const { output_index: index, item } = ItemDone.parse(event)
    return 'call_id' in item ? { calls: [{ index, id: item.call_id, name: item.name, arguments: item.arguments }] } : {}
  },
  'response.completed': (event) => ({ reason: 'stop', usage: usageOf(event) }),
  'response.incomplete'(event) {
    const why = Ended.parse(event).response.incomplete_details?.reason
    // Other reasons mean nothing to readers: the answer broke off.
    if (why !== 'max_output_tokens' && why !== 'content_filter') throw new Error('The answer is not complete')
    return { reason: why === 'content_filter' ? why : 'length', usage: usageOf(event) }
  },
  'response.failed': broken,
  error: broken,
}

export function readEvent(event: unknown): StreamPiece {
  const { type } = Event.parse(event)
  return (Object.hasOwn(readers, type) && readers[type]?.(event)) || {}
}

function usageOf(event: unknown): StreamPiece['usage'] {
  const { usage } = Ended.parse(event).response
  return usage && { input: usage.input_tokens, output: usage.output_tokens }
}

function broken(event: unknown): never {
  const { code, response } = Broken.parse(event)
  throw new OpenAI.APIError(undefined, { code: response?.error?.code ?? code }, 'The answer failed', undefined)
}
