import type { RootContent } from 'hast'
import { Fragment, type ReactNode, useEffect, useState } from 'react'
import { ActButton } from '../kit/act-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { useTell } from '../kit/toasts.tsx'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './messages.module.css'

/** Longer code is not highlighted, as that would block the page. */
const mostHighlighted = 8_000

/** A block of code, highlighted where the language is known. */
export function CodeBlock({ language, code }: { language: string | null; code: string }) {
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
