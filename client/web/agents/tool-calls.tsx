import type { RunTool } from '#client/sdk/runs'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import styles from './tool-calls.module.css'

/** The tools that an answer has called, and how long each took. */
export function ToolCalls({ tools, isOver }: { tools: readonly RunTool[]; isOver: boolean }) {
  if (tools.length === 0) return null
  return (
    <ul className={styles.toolCalls} aria-label={t.answer.tools}>
      {tools.map(({ server, name, state, ms }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls are only added at the end.
        <li key={at} className={state}>
          <Icon name={state === 'failed' ? 'warn' : 'plug'} />
          <span>{isolated(server) || t.answer.unknownTool}:</span>
          {name === ofServer ? <span>{t.answer.toolList}</span> : <code>{name}</code>}
          <span aria-hidden="true">·</span>
          <span className="numerals">
            {stateText(t.toolStates[state === 'running' && isOver ? 'unfinished' : state], ms)}
          </span>
        </li>
      ))}
    </ul>
  )
}

const stateText = (state: string, ms: number | null): string =>
  ms === null ? state : t.toolStates.took({ state, time: ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s` })

/** The call by which a server is asked what it offers. */
const ofServer = 'tools/list'
