import { directionOf } from '../kit/format.ts'
import { Markdown } from '../messages/markdown.tsx'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import styles from './answer-table.module.css'
import type { Table } from './tables.ts'

const nobody: readonly never[] = []

/** A table within an answer; one that is too wide is scrolled by itself. */
export function AnswerTable({ table: { sides, head, rows } }: { table: Table }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll the table sideways.
    <section className={styles.answerTable} aria-label={t.table} tabIndex={0}>
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

const Cell = ({ text }: { text: string }) => (text === '' ? null : <Markdown text={text} named={nobody} />)
