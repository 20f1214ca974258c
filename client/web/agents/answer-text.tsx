import { memo, useMemo } from 'react'
import type { Citation } from '#shared/api/agents/run-frames'
import { directionOf } from '../kit/format.ts'
import { InlineContext } from '../messages/inline-text.tsx'
import { Markdown } from '../messages/markdown.tsx'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import styles from './agents.module.css'
import answerTableStyles from './answer-table.module.css'

type Side = 'start' | 'center' | 'end'

/** A table as it is written between bars; each row has a cell for each column. */
interface Table {
  sides: readonly Side[]
  head: readonly string[]
  rows: readonly (readonly string[])[]
}

/** What is larger is shown as it is written. */
const mostColumns = 20
const mostRows = 200
const rule = /^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/

const isTableRow = (line: string): boolean => /^ {0,3}\S/.test(line) && line.includes('|')

/** Does a table begin with this line: is the next one a rule of as many columns? */
function isTableAt(lines: readonly string[], at: number): boolean {
  const [head = '', below = ''] = lines.slice(at, at + 2)
  return isTableRow(head) && below.includes('|') && rule.test(below) && cellsOf(head).length === cellsOf(below).length
}

function tableOf(text: string): Table | null {
  const [head = '', below = '', ...body] = text.split('\n')
  if (!isTableAt([head, below], 0)) return null
  const columns = cellsOf(head)
  if (columns.length > mostColumns || body.length > mostRows) return null
  return {
    sides: cellsOf(below).map(sideOf),
    head: columns,
    rows: body.map((line) => {
      const cells = cellsOf(line)
      return columns.map((_, at) => cells[at] ?? '')
    }),
  }
}

const sideOf = (cell: string): Side => (cell.endsWith(':') ? (cell.startsWith(':') ? 'center' : 'end') : 'start')

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replace(/\\\|/g, '|'))

const nobodyNamed: readonly never[] = []

/** A table within an answer; one that is too wide is scrolled by itself. */
function AnswerTable({ table: { sides, head, rows } }: { table: Table }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll the table sideways.
    <section className={answerTableStyles.answerTable} aria-label={t.table} tabIndex={0}>
      <table dir={directionOf(head.join(' '))}>
        <thead>
          <tr>
            {head.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns are only added at the end.
              <th key={at} scope="col" className={sides[at]}>
                <Cell text={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, line) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are only added at the end.
            <tr key={line}>
              {row.map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns are only added at the end.
                <td key={at} className={sides[at]}>
                  <Cell text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const Cell = ({ text }: { text: string }) => (text === '' ? null : <Markdown text={text} named={nobodyNamed} />)

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
