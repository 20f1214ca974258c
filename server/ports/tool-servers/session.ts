import { z } from 'zod'
import { AppError } from '#shared/errors'
import type { OfferedTool, ToolResult } from './port.ts'

/** A connection to one server, however it is spoken to. */
export interface Session {
  list(signal: AbortSignal): Promise<readonly OfferedTool[]>
  call(name: string, given: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolResult>
}

/** Asks with the headers of the server beside these. */
export type SendRequest = (
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<{ status: number; headers: Readonly<Record<string, string>>; body: Uint8Array }>

const mostTools = 50

const Tool = z.object({
  name: z.string().min(1).max(128),
  description: z.string().nullish(),
  inputSchema: z.record(z.string(), z.unknown()).nullish(),
})

const Named = z.object({ name: z.string().min(1).max(128) })
const malformed = 'This tool is malformed, and is not used.'

/** The tools of a list; a malformed one does not affect the others. */
export function toolsOf(told: unknown): OfferedTool[] {
  const listed = z.array(z.unknown()).safeParse(told)
  if (!listed.success) throw new AppError('UPSTREAM_ERROR', { cause: new Error('The tool server listed no tools') })
  return listed.data.slice(0, mostTools).map((one, at) => {
    const tool = Tool.safeParse(one).data
    if (tool) return { name: tool.name, description: tool.description ?? '', inputSchema: tool.inputSchema ?? {} }
    const name = Named.safeParse(one).data?.name ?? `Tool ${at + 1}`
    return { name, description: malformed, inputSchema: null }
  })
}

const Result = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).nullish(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().nullish(),
})

/** The text of a result; what is no text is named only. */
export function resultOf(told: unknown): ToolResult {
  const read = Result.safeParse(told)
  if (!read.success) throw new AppError('UPSTREAM_ERROR', { cause: new Error('The tool server answered no result') })
  const { content, structuredContent, isError } = read.data
  const texts = (content ?? []).map(({ type, text }) => text ?? `[${type}]`)
  const text = texts.length > 0 ? texts.join('\n') : JSON.stringify(structuredContent ?? null)
  return { text, isError: isError ?? false }
}
