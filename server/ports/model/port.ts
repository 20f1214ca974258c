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
  /** A web page behind the answer, as the provider names it: each once, 20 at most. */
  | { type: 'source'; url: string; title: string }
  /** Always last: the provider has finished, and why. */
  | {
      type: 'end'
      reason: 'stop' | 'length' | 'calls' | 'filtered'
      inputTokens: number | null
      outputTokens: number | null
      /** So many calls of tools were written as text, and left out of the answer. */
      callsInText?: number
    }

/** A text-generation model. */
export interface Model {
  /** As answers and agents name it. */
  readonly name: string
  /** It is a script of ours, as no other is configured. */
  readonly isScripted: boolean
  /** Whether it heeds `webSearch`. */
  readonly searchesWeb?: boolean
  /** Other models of its server, which agents can have instead. */
  readonly others?: readonly Model[]
  /**
   * The parts of one answer, ended by exactly one `end`. Throws UPSTREAM_ERROR if it breaks off, and TIMEOUT after a long
   * silence. `details.failure` of an UPSTREAM_ERROR is its `ProviderFailure`, if known. An aborted signal aborts the provider's
   * request too, and this throws its reason.
   */
  answer(question: Question, signal: AbortSignal): AsyncIterable<Part>
}

/** Makes vectors of texts, so that those of like meaning are near. */
export interface Embedder {
  /** Vectors of two embedders with different names are never compared. */
  readonly name: string
  readonly dimensions: number
  /**
   * One vector of length 1 for each text, in order. `count` gets the tokens that the provider reports for each request. Throws
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
