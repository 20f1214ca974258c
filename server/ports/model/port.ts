/** A turn of a conversation. Fetched or stored text is data within a turn, never a turn. */
export interface Turn {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** A tool for the model, with a JSON schema of its arguments. */
export interface ModelTool {
  name: string
  description: string
  parameters: Readonly<Record<string, unknown>>
}

/** The result of a tool call. */
export interface ToolTurn {
  call: ToolCall
  result: string
}

export interface ToolCall {
  id: string
  name: string
  /** JSON as the model wrote it; it may be anything. */
  arguments: string
}

export interface Question {
  turns: readonly Turn[]
  tools?: readonly ModelTool[]
  /** Earlier tool calls of this question. */
  called?: readonly ToolTurn[]
  maxOutputTokens: number
  temperature: number
  webSearch: boolean
}

export type Part =
  /** Well-formed text: a part never ends within a character. */
  | { type: 'text'; text: string }
  /** So many final UTF-16 code units were thoughts of the model, not answer. */
  | { type: 'unsaid'; length: number }
  | { type: 'call'; call: ToolCall }
  /** A page of the web that the answer rests on, as the provider names it: each once, and 20 at most. */
  | { type: 'source'; url: string; title: string }
  /** Always last: the provider has finished, and why. */
  | {
      type: 'end'
      reason: 'stop' | 'length' | 'calls' | 'filtered'
      inputTokens: number | null
      outputTokens: number | null
    }

/** A text-generation model. */
export interface Model {
  /** As answers and agents name it. */
  readonly name: string
  /** It is a script of ours, as no other is configured. */
  readonly isScripted: boolean
  /** Whether it heeds `webSearch`. */
  readonly searchesWeb?: boolean
  /**
   * The parts of one answer, ended by exactly one `end`. Throws UPSTREAM_ERROR where it breaks off before, however it does, and
   * TIMEOUT where nothing comes for too long; `details.failure` of an UPSTREAM_ERROR is its `ProviderFailure`, where that is known. When the signal is
   * aborted the request to the provider is, too, and this throws the signal's reason.
   */
  answer(question: Question, signal: AbortSignal): AsyncIterable<Part>
}

/** Makes vectors of texts, so that those of like meaning are near. */
export interface Embedder {
  /** Vectors of two embedders with different names are never compared. */
  readonly name: string
  readonly dimensions: number
  /**
   * One vector of length 1 a text, in their order. `count` is told the tokens that the provider reports, of each request. Throws
   * UPSTREAM_ERROR and TIMEOUT.
   */
  embed(texts: readonly string[], signal: AbortSignal, count?: (tokens: number) => void): Promise<Float32Array[]>
}

/** Why a provider does not answer. */
export type ProviderFailure =
  | 'MODEL_BUSY'
  | 'MODEL_UNAVAILABLE'
  | 'MODEL_REFUSED'
  | 'QUESTION_REFUSED'
  | 'CONTEXT_TOO_LONG'
