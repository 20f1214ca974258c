import { z } from 'zod'
import { boundedFetch } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import { openAsking, openClient, type Patience, type Provider, retrying } from './openai-request.ts'
import type { Embedder } from './port.ts'

interface EmbeddingProvider extends Provider {
  dimensions: number
}

const atOnce = 64
/** Numbers in JSON: 64 vectors of 3,072 are about 5 MB. */
const maxBytes = 16 * 1024 * 1024

/** Any server that answers embeddings as OpenAI does. */
export function openaiEmbedder(provider: EmbeddingProvider, patience: Partial<Patience> = {}): Embedder {
  const { baseUrl, model, dimensions } = provider
  const client = openClient(provider, boundedFetch(maxBytes))
  const vector = z.array(z.number()).length(dimensions)
  const Answer = z.object({
    data: z.array(z.object({ index: z.int().nullish(), embedding: vector })),
    usage: z
      .object({ total_tokens: z.int().min(0) })
      .nullish()
      .catch(null),
  })
  return {
    name: `${new URL(baseUrl).host}/${model}/${dimensions}`,
    dimensions,
    async embed(texts, signal, count = () => {}) {
      const vectors: Float32Array[] = []
      for (let at = 0; at < texts.length; at += atOnce)
        vectors.push(...(await some(texts.slice(at, at + atOnce), signal, count)))
      return vectors
    },
  }

  async function some(
    texts: readonly string[],
    signal: AbortSignal,
    count: (tokens: number) => void,
  ): Promise<Float32Array[]> {
    signal.throwIfAborted()
    const asking = openAsking(signal, patience)
    try {
      // Servers refuse an empty text.
      const input = texts.map((text) => text.toWellFormed().trim() || '-')
      const answer = await retrying(asking, () =>
        client.embeddings.create({ model, input, encoding_format: 'float' }, { signal: asking.signal }),
      )
      const { data, usage } = Answer.parse(answer)
      if (usage) count(usage.total_tokens)
      const told = data.map(({ index, embedding }, at) => ({ at: index ?? at, embedding }))
      const sorted = told.sort((one, other) => one.at - other.at)
      if (sorted.length !== texts.length || sorted.some(({ at }, place) => at !== place))
        throw new AppError('UPSTREAM_ERROR', { cause: new Error('The answer has not one vector for each text') })
      return sorted.map(({ embedding }) => atUnitLength(embedding))
    } catch (error) {
      throw asking.meant(error)
    } finally {
      asking.end()
    }
  }
}

function atUnitLength(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values)
  if (length === 0) throw new AppError('UPSTREAM_ERROR', { cause: new Error('A vector has no length') })
  return Float32Array.from(values, (value) => value / length)
}
