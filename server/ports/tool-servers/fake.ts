import { AppError } from '#shared/errors'
import type { OfferedTool, OpenToolServers, ToolResult } from './port.ts'

type Tool = OfferedTool & { answer(given: Readonly<Record<string, unknown>>): ToolResult | Promise<ToolResult> }

/** Servers in memory, by their URLs; others give no answer. Nothing is asked of the web. */
export function fakeToolServers(servers: Readonly<Record<string, readonly Tool[]>>) {
  const asked: { url: string; name: string; given: unknown; headers: unknown }[] = []
  const toolsAt = (url: string, signal: AbortSignal) => {
    signal.throwIfAborted()
    const tools = servers[url]
    if (!tools) throw new AppError('UPSTREAM_ERROR')
    return tools
  }
  const open: OpenToolServers = () => ({
    list: async ({ url }, signal) => toolsAt(url, signal).map(({ answer: _, ...tool }) => tool),
    async call({ url, headers }, name, given, signal) {
      asked.push({ url, name, given, headers })
      const tool = toolsAt(url, signal).find((one) => one.name === name)
      if (!tool) return { text: 'There is no such tool', isError: true }
      return tool.answer(given)
    },
  })
  return { open, asked }
}
