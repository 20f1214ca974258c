import type { ReactNode } from 'react'
import type { Message } from '#shared/api/messages'

const link = /\bhttps?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]]/gi

type Span = { start: number; end: number; kind: 'mention' | 'link'; id: string }

/** Text with its mentions and links; everything else is shown as it was written. */
export function MessageText(props: { text: string; mentions: Message['mentions']; account: string }) {
  const spans = spansOf(props.text, props.mentions)
  const parts: ReactNode[] = []
  let at = 0
  for (const span of spans) {
    if (span.start < at) continue
    parts.push(props.text.slice(at, span.start))
    parts.push(
      <SpanText key={span.start} span={span} text={props.text.slice(span.start, span.end)} account={props.account} />,
    )
    at = span.end
  }
  parts.push(props.text.slice(at))
  return <p className="text">{parts}</p>
}

function SpanText({ span, text, account }: { span: Span; text: string; account: string }) {
  if (span.kind === 'mention') return <span className={`mention ${span.id === account ? 'mine' : ''}`}>{text}</span>
  return (
    <a href={text} target="_blank" rel="noopener noreferrer nofollow">
      {text}
    </a>
  )
}

function spansOf(text: string, mentions: Message['mentions']): Span[] {
  const named = mentions.map(({ start, len, id }) => ({ start, end: start + len, kind: 'mention' as const, id }))
  const linked = [...text.matchAll(link)]
    .filter(([address]) => URL.canParse(address))
    .map((match) => ({ start: match.index, end: match.index + match[0].length, kind: 'link' as const, id: '' }))
  return [...named, ...linked].filter(({ end }) => end <= text.length).sort((one, other) => one.start - other.start)
}
