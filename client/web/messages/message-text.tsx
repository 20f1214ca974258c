import { lazy, Suspense, useMemo } from 'react'
import type { Mention } from '#shared/api/rooms/message'
import { isSameAccount } from '#shared/kit/accounts'
import { accountOfAgent, agentMentionsIn, withPlainNames } from '#shared/kit/room-agents'
import { useNamesakes } from '../rooms/namesakes.ts'
import { InlineText, type Named } from './inline-text.tsx'

const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }))

/** Characters that Markdown uses; a text without any is shown before the parser is loaded. */
const marks = /[*_~`\\<]|https?:|\]\(|^\s*(>|[-+]\s|\d{1,9}[.)]\s)/m

/** The text of a message, with Markdown, mentions and links. */
export function MessageText(props: { text: string; mentions: readonly Mention[]; account: string }) {
  const { mentions, account } = props
  const text = withPlainNames(props.text)
  const { markOf } = useNamesakes()
  const named = useMemo(() => {
    const agents = agentMentionsIn(props.text).map(
      ({ name }): Named => ({ words: `@${name}`, isMe: false, mark: null }),
    )
    return mentions
      .map(({ start, len, id, kind }): Named => {
        const words = wordsAt(props.text, start, len)
        const whom = kind === 'agent' ? accountOfAgent(id) : id
        return { words, isMe: isSameAccount(id, account), mark: markOf({ id: whom, name: words.replace(/^@/, '') }) }
      })
      .concat(agents)
  }, [props.text, mentions, account, markOf])
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

const wordsAt = (text: string, start: number, len: number) => withPlainNames(text.slice(start, start + len))
