import { lazy, Suspense, useMemo } from 'react'
import type { Message } from '#shared/api/message'
import { InlineText, type Named } from './inline-text.tsx'

const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }))

/** Characters that Markdown uses; a text without any is shown before the parser is loaded. */
const marks = /[*_~`\\]|\]\(|^\s*(>|[-+]\s|\d{1,9}[.)]\s)/m

/** The text of a message, with Markdown, mentions and links. */
export function MessageText(props: { text: string; mentions: Message['mentions']; account: string }) {
  const { text, mentions, account } = props
  const named = useMemo(
    () =>
      mentions.map(({ start, len, id }): Named => ({ words: text.slice(start, start + len), isMe: id === account })),
    [text, mentions, account],
  )
  const plain = (
    <p className="text" dir="auto">
      <InlineText text={text} named={named} />
    </p>
  )
  if (!marks.test(text)) return plain
  return (
    <Suspense fallback={plain}>
      <Markdown text={text} named={named} />
    </Suspense>
  )
}
