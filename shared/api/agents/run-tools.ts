import type { RunTool } from './run-frames.ts'

/** The calls of tools after one more frame, which ends the running call or begins a new one. */
export function withTool(tools: readonly RunTool[], { server, name, state, ms }: RunTool): RunTool[] {
  const tool = { server, name, state, ms }
  const at = tools.findLastIndex((one) => one.server === server && one.name === name && one.state === 'running')
  return at < 0 || state === 'running' ? [...tools, tool] : tools.with(at, tool)
}
