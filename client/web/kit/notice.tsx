import type { ReactNode } from 'react'
import { kitTexts as t } from '../texts/kit.ts'
import { lengthOf } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { type ProblemWords, problemText, retryTimeOf } from './problem.ts'
import type { Renewed } from './use-loaded.ts'
import { useNowUntil } from './use-now.ts'

/** An error of a load or an act. A load, which has `onRetry`, is repeated by itself after too many requests. */
export function Problem(props: { error: unknown; words?: ProblemWords; onRetry?: (() => void) | undefined }) {
  if (!props.error) return null
  const at = props.onRetry ? retryTimeOf(props.error) : null
  if (at !== null) return <GoesOn at={at} />
  return (
    <p className="problem" role="alert" ref={bringIntoView}>
      {problemText(props.error, props.words)}
      {props.onRetry && (
        <button type="button" onClick={props.onRetry}>
          {t.retry}
        </button>
      )}
    </p>
  )
}

const bringIntoView = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })

/** Why a screen could not be loaded, in its place. */
export function LoadProblem({ error, words }: { error: unknown; words?: ProblemWords }) {
  const at = retryTimeOf(error)
  return at === null ? <p role="alert">{problemText(error, words)}</p> : <GoesOn at={at} />
}

/** What was too much at once, and is asked for again by itself: nobody has to do anything. */
export function GoesOn({ at }: { at: string }) {
  const seconds = Math.max(1, Math.ceil((Date.parse(at) - useNowUntil(at)) / 1_000))
  return (
    <p className="hint">
      <span role="status">{t.tooMuch}</span> {t.retrying({ time: lengthOf(seconds) })}
    </p>
  )
}

/** An error or an empty state in the place of content; `isPage` when it fills the whole page. */
export function Blank(props: { icon?: IconName; title: string; isPage?: boolean; children?: ReactNode }) {
  const Title = props.isPage ? 'h1' : 'strong'
  return (
    <div className="blank">
      {props.icon && <Icon name={props.icon} />}
      <Title>{props.title}</Title>
      {props.children}
    </div>
  )
}

export function Skeleton({ rows = 6, label = t.loading }: { rows?: number; label?: string }) {
  return (
    <div className="skeleton" role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, row) => `row-${row}`).map((key) => (
        <span key={key} />
      ))}
    </div>
  )
}

/** A list in each of its states: loading, failed, empty, full. If a reload fails, the items loaded before stay. */
export function Listed<T>(props: {
  loaded: Renewed<readonly T[]>
  empty: ReactNode
  children: (items: readonly T[]) => ReactNode
}) {
  const { value, error, isLoading, reload } = props.loaded
  const problem = <Problem error={error} onRetry={reload} />
  if (value === null) return error ? problem : isLoading ? <Skeleton /> : null
  return (
    <>
      {problem}
      {value.length === 0 ? props.empty : props.children(value)}
    </>
  )
}
