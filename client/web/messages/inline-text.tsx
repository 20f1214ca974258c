import { createContext, type ReactNode, useContext } from 'react'
import type { Citation } from '#shared/api/agents/run-frames'
import { addressesIn, isWebAddress, unsaidHost } from '#shared/kit/web-address'
import { isolated } from '../kit/format.ts'
import { lookOf } from '../rooms/kind.ts'
import { slugOf } from '../rooms/room-title.ts'
import { linkToRoom } from '../rooms/route.ts'
import { RoomsContext, refOf } from '../rooms/use-rooms.ts'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './inline-text.module.css'
import messagesStyles from './messages.module.css'
import { OuterLink, outward } from './outer-link.tsx'

/** What a text cites by `[n]`, and whether it stands within a link, which holds no other. */
interface Inline {
  citations: readonly Citation[]
  isInLink: boolean
}
export const InlineContext = createContext<Inline>({ citations: [], isInLink: false })
export const inLink: Inline = { citations: [], isInLink: true }

/** The number of a source: a link to it where it has an address. */
function CitationChip({ source }: { source: Citation }) {
  const { n, title, url } = source
  if (!isWebAddress(url))
    return (
      <span className={messagesStyles.cite} title={isolated(title)}>
        <span className="unseen">{t.source} </span>
        {n}
      </span>
    )
  const host = unsaidHost(url, title)
  const of = { number: n, title: isolated(title) }
  const words = host ? t.sourceAt({ ...of, host }) : t.sourceOf(of)
  return (
    <a className={messagesStyles.cite} href={url} title={words} aria-label={words} {...outward}>
      {n}
    </a>
  )
}

/** A mentioned person, and the words that mention them in the text. */
export interface Named {
  words: string
  isMe: boolean
  /** What tells the person from another one whose name looks the same. */
  mark: string | null
}

const roomSlug = /(?<![\p{L}\p{N}_&/#-])#[\p{Ll}\p{Lo}\p{N}][\p{Ll}\p{Lo}\p{N}-]{0,99}(?<!-)/gu

type Span = {
  start: number
  end: number
  kind: 'mention' | 'mine' | 'link' | 'room' | 'citation'
  mark?: string | null
}

/** A text with its mentions, links and room names; the rest is shown as written. */
export function InlineText({ text, named }: { text: string; named: readonly Named[] }) {
  const { citations, isInLink } = useContext(InlineContext)
  const parts: ReactNode[] = []
  let at = 0
  if (isInLink) return <>{isolated(text)}</>
  const cited = (words: string) => citations.find(({ n }) => `[${n}]` === words)
  for (const { start, end, kind, mark } of spansOf(text, named)) {
    if (start < at) continue
    parts.push(text.slice(at, start))
    const words = text.slice(start, end)
    const source = kind === 'citation' ? cited(words) : undefined
    parts.push(
      kind === 'citation' ? (
        source ? (
          <CitationChip key={start} source={source} />
        ) : (
          words
        )
      ) : kind === 'room' ? (
        <RoomName key={start} words={words} />
      ) : kind === 'link' ? (
        <OuterLink key={start} href={words} words={words}>
          {isolated(words)}
        </OuterLink>
      ) : (
        <span key={start} className={`${styles.mention} ${kind === 'mine' ? 'mine' : ''}`}>
          {words}
          {mark && <small className="handle"> {mark}</small>}
        </span>
      ),
    )
    at = end
  }
  parts.push(text.slice(at))
  return <>{parts}</>
}

/** The name of a room; a link to it if the room is in the reader's list. */
function RoomName({ words }: { words: string }) {
  const room = useContext(RoomsContext)?.value?.find((one) => lookOf(one).isNamed && slugOf(one) === words.slice(1))
  return room ? (
    <a className={styles.mention} href={linkToRoom(refOf(room))} title={isolated(room.name)}>
      {words}
    </a>
  ) : (
    words
  )
}

function spansOf(text: string, named: readonly Named[]): Span[] {
  const mentions = named.flatMap(({ words, isMe, mark }) =>
    placesOf(text, words).map((start) => ({
      start,
      end: start + words.length,
      kind: isMe ? ('mine' as const) : ('mention' as const),
      mark,
    })),
  )
  const links = addressesIn(text).map((place) => ({ ...place, kind: 'link' as const }))
  const rooms = [...text.matchAll(roomSlug)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    kind: 'room' as const,
  }))
  const citations = [...text.matchAll(/\[\d{1,3}\]/g)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    kind: 'citation' as const,
  }))
  return [...mentions, ...links, ...rooms, ...citations].sort((one, other) => one.start - other.start)
}

function placesOf(text: string, words: string): number[] {
  const places: number[] = []
  if (words === '') return places
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) places.push(at)
  return places
}
