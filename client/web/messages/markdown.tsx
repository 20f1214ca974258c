import type { RootContent } from 'hast'
import type { Link, Nodes } from 'mdast'
import { Fragment, memo, type ReactNode, useEffect, useState } from 'react'
import { deepestDrawn, markupOf, webAddressOf, writtenOf } from '#shared/kit/markup'
import { ActButton } from '../kit/act-button.tsx'
import { directionOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useTell } from '../kit/toasts.tsx'
import { messageTexts as t } from '../texts/messages.ts'
import { InlineContext, InlineText, inLink, type Named } from './inline-text.tsx'
import styles from './messages.module.css'
import { OuterLink } from './outer-link.tsx'

/** Longer code is not highlighted, as that would block the page. */
const mostHighlighted = 8_000

/** A block of code, highlighted where the language is known. */
function CodeBlock({ language, code }: { language: string | null; code: string }) {
  const tell = useTell()
  const [coloured, setColoured] = useState<{ code: string; nodes: readonly RootContent[] } | null>(null)
  useEffect(() => {
    if (language === null || code.length > mostHighlighted) return
    let isOver = false
    import('./highlight.ts').then(
      ({ highlight }) => {
        const nodes = highlight(language, code)
        if (!isOver && nodes) setColoured({ code, nodes })
      },
      () => {},
    )
    return () => {
      isOver = true
    }
  }, [language, code])
  const copy = async () => {
    await navigator.clipboard.writeText(code)
    tell(t.codeCopied)
  }
  return (
    <div className={styles.codeHolder} dir="ltr">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll the block sideways. */}
      <pre className={styles.codeBlock} dir="ltr" tabIndex={0}>
        <code>{coloured?.code === code ? coloured.nodes.map(spanOf) : code}</code>
      </pre>
      <ActButton className="icon-button small" aria-label={t.copyCode} title={t.copyCode} onPress={copy}>
        <Icon name="copy" />
      </ActButton>
    </div>
  )
}

function spanOf(node: RootContent, at: number): ReactNode {
  if (node.type === 'text') return <Fragment key={at}>{node.value}</Fragment>
  if (node.type !== 'element') return null
  const { className } = node.properties
  return (
    <span key={at} className={Array.isArray(className) ? className.join(' ') : undefined}>
      {node.children.map(spanOf)}
    </span>
  )
}

interface Context {
  source: string
  named: readonly Named[]
}

/** Renders a text as Markdown: only React elements of a fixed list, never HTML. */
export const Markdown = memo(function Markdown(props: { text: string; named: readonly Named[]; isDocument?: boolean }) {
  const { text, named, isDocument } = props
  const tree = markupOf(text, isDocument)
  return (
    <div className={`text ${styles.markedDown}`} dir="auto">
      {children(tree.children, { source: text, named }, 0)}
    </div>
  )
})

const children = (nodes: readonly Nodes[], context: Context, depth: number): ReactNode =>
  nodes.map((node, at) => (
    <Fragment key={`${node.type} ${node.position?.start.offset}`}>
      {element(withoutImageSign(node, nodes[at + 1], context.source), context, depth + 1)}
    </Fragment>
  ))

/** The page loads no picture of elsewhere: an image is a link of its words. The `!` before it is no text. */
const withoutImageSign = (node: Nodes, next: Nodes | undefined, source: string): Nodes =>
  node.type === 'text' && node.value.endsWith('!') && next?.type === 'link' && isImage(next, source)
    ? { ...node, value: node.value.slice(0, -1) }
    : node
const isImage = (link: Link, source: string) =>
  source.slice((link.position?.start.offset ?? 0) - 1).startsWith('![') && webAddressOf(link, source) !== null

function element(node: Nodes, context: Context, depth: number): ReactNode {
  const written = writtenOf(node, context.source)
  if (depth > deepestDrawn) return written
  const inside = () => ('children' in node ? children(node.children, context, depth) : null)
  switch (node.type) {
    case 'text':
      return <InlineText text={node.value} named={context.named} />
    case 'paragraph':
      return <p dir="auto">{inside()}</p>
    case 'heading':
      return (
        <p className="heading" dir="auto">
          {inside()}
        </p>
      )
    case 'thematicBreak':
      return <hr />
    case 'strong':
      return <strong>{inside()}</strong>
    case 'emphasis':
      return <em>{inside()}</em>
    case 'delete':
      return <del>{inside()}</del>
    case 'inlineCode':
      return <code dir="ltr">{node.value}</code>
    case 'code':
      return <CodeBlock language={node.lang ?? null} code={node.value} />
    case 'blockquote':
      return <blockquote dir="auto">{inside()}</blockquote>
    case 'list': {
      // `dir="auto"` would not look into its items, which have their own.
      const dir = directionOf(written)
      return node.ordered ? (
        <ol start={node.start ?? 1} dir={dir}>
          {inside()}
        </ol>
      ) : (
        <ul dir={dir}>{inside()}</ul>
      )
    }
    case 'listItem':
      return <li>{inside()}</li>
    case 'break':
      return <br />
    case 'link':
      return linkOf(node, context, inside)
    default:
      return written
  }
}

/** A link that the page does not follow is shown as written, with what it links by itself. */
function linkOf(node: Link, { source, named }: Context, inside: () => ReactNode): ReactNode {
  const address = webAddressOf(node, source)
  if (address === null) return <InlineText text={writtenOf(node, source)} named={named} />
  return (
    <OuterLink href={address} words={plainWordsOf(node)}>
      <InlineContext value={inLink}>{node.children.length > 0 ? inside() : t.picture}</InlineContext>
    </OuterLink>
  )
}

/** What a link says; empty where that is more than plain words. */
function plainWordsOf({ children: [only, ...others] }: Link): string {
  return only?.type === 'text' && others.length === 0 ? only.value : ''
}
