import { memo, useMemo } from 'react'
import type { Citation } from '#shared/api/agents/run-frames'
import { InlineContext } from '../messages/citations.tsx'
import { Markdown } from '../messages/markdown.tsx'
import styles from './agents.module.css'
import { AnswerTable } from './answer-table.tsx'
import { isTableAt, isTableRow, tableOf } from './tables.ts'

/** The text of an answer as Markdown. Its blocks are read one by one, so that a long answer is not read anew with each word. */
export const AnswerText = memo(function AnswerText(props: { text: string; citations: readonly Citation[] }) {
  const { text, citations } = props
  const context = useMemo(() => ({ citations, isInLink: false }), [citations])
  const blocks = useMemo(() => blocksOf(text), [text])
  if (text === '') return null
  return (
    <InlineContext value={context}>
      <div className={styles.answerText}>
        {blocks.map((block, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only added at the end.
          <Block key={at} text={block} />
        ))}
      </div>
    </InlineContext>
  )
})

const Block = memo(function Block({ text }: { text: string }) {
  const table = tableOf(text)
  return table ? <AnswerTable table={table} /> : <Markdown text={text} named={nobody} isDocument />
})

const nobody: readonly never[] = []
const fence = /^ {0,3}(```|~~~)/

/** The parts of a text between empty lines, and its tables; a fenced block and what is indented below a line stay with it. */
export function blocksOf(text: string): string[] {
  const blocks: string[] = []
  let block: string[] = []
  let open: string | null = null
  let isTable = false
  const end = () => {
    blocks.push(block.join('\n').trimEnd())
    block = []
  }
  const lines = text.split('\n')
  for (const [at, line] of lines.entries()) {
    const [, mark = null] = fence.exec(line) ?? []
    const goesOn = open !== null || /^\s+\S/.test(line)
    const isAfterGap = block.at(-1)?.trim() === '' && line.trim() !== '' && !goesOn
    const beginsTable: boolean = open === null && !isTable && isTableAt(lines, at)
    const endsTable: boolean = isTable && !isTableRow(line)
    if (isAfterGap || beginsTable || endsTable) end()
    isTable = beginsTable || (isTable && !endsTable)
    block.push(line)
    if (mark !== null && (open === null || open === mark)) open = open === null ? mark : null
  }
  end()
  return blocks.filter(Boolean)
}
