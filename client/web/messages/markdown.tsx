import type { Nodes } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmStrikethroughFromMarkdown } from 'mdast-util-gfm-strikethrough'
import { gfmStrikethrough } from 'micromark-extension-gfm-strikethrough'
import { Fragment, memo, type ReactNode } from 'react'
import { directionOf } from '../kit/format.ts'
import { isWebAddress } from '../kit/web-address.ts'
import { InlineContext, inLink } from './citations.tsx'
import { CodeBlock } from './code-block.tsx'
import { InlineText, type Named, OuterLink } from './inline-text.tsx'

/** Constructs of Markdown that are unsafe or useless in a chat; they are shown as written. */
const unread = [
  'htmlFlow',
  'htmlText',
  'labelStartImage',
  'definition',
  'headingAtx',
  'setextUnderline',
  'thematicBreak',
  'codeIndented',
  'characterReference',
  'autolink',
]
/** A text that is read as a document has headings, too. */
const ofDocuments = ['headingAtx', 'thematicBreak']
/** The deepest nesting; deeper constructs are shown as written. */
const deepest = 12
/** Parsing takes quadratic time in the number of these; a text with more of them is shown as written. */
const mostMarks = 500
const mostBlocks = 7
const manyBlocks = new RegExp(`^(?:>|[-+*]|\\d{1,9}[.)]){${mostBlocks},}`, 'm')

const isTooMuch = (text: string): boolean =>
  (text.match(/[*_~`[\]\n]/g)?.length ?? 0) > mostMarks || manyBlocks.test(text.replace(/[^\S\n]/g, ''))

interface Context {
  source: string
  named: readonly Named[]
}

/** Renders a text as Markdown: only React elements of a fixed list, never HTML. */
export const Markdown = memo(function Markdown(props: { text: string; named: readonly Named[]; isDocument?: boolean }) {
  const { text, named } = props
  const disabled = props.isDocument ? unread.filter((name) => !ofDocuments.includes(name)) : unread
  if (isTooMuch(text)) {
    return (
      <p className="text" dir="auto">
        <InlineText text={text} named={named} />
      </p>
    )
  }
  const tree = fromMarkdown(text, {
    extensions: [gfmStrikethrough({ singleTilde: false }), { disable: { null: disabled } }],
    mdastExtensions: [gfmStrikethroughFromMarkdown()],
  })
  return (
    <div className="text marked-down" dir="auto">
      {children(tree.children, { source: text, named }, 0)}
    </div>
  )
})

const children = (nodes: readonly Nodes[], context: Context, depth: number): ReactNode =>
  nodes.map((node) => (
    <Fragment key={`${node.type} ${node.position?.start.offset}`}>{element(node, context, depth + 1)}</Fragment>
  ))

function element(node: Nodes, context: Context, depth: number): ReactNode {
  const written = context.source.slice(node.position?.start.offset, node.position?.end.offset)
  if (depth > deepest) return written
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
      return isWebAddress(node.url) ? (
        <OuterLink href={node.url}>
          <InlineContext value={inLink}>{inside()}</InlineContext>
        </OuterLink>
      ) : (
        written
      )
    default:
      return written
  }
}
