import { type KeyboardEvent, type ReactNode, useEffect } from 'react'
import { stepRight } from './keys.ts'

export interface Tab<Name extends string> {
  name: Name
  title: ReactNode
}

export function Tabs<Name extends string>(props: {
  label: string
  /** The id of what they turn. */
  controls?: string
  tabs: readonly Tab<Name>[]
  chosen: Name
  onChoose: (name: Name) => void
}) {
  const { chosen } = props
  // A row that is wider than its place shows the chosen tab, and its neighbours.
  useEffect(() => {
    document.getElementById(`tab-${chosen}`)?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [chosen])
  const walk = (event: KeyboardEvent) => {
    const step = { ArrowRight: stepRight, ArrowDown: 1, ArrowLeft: -stepRight, ArrowUp: -1 }[event.key]
    if (!step || event.altKey) return
    event.preventDefault()
    const shown = props.tabs.filter(({ name }) => document.getElementById(`tab-${name}`)?.checkVisibility())
    const at = shown.findIndex(({ name }) => name === chosen)
    const next = shown[(at + step + shown.length) % shown.length]
    if (!next) return
    props.onChoose(next.name)
    document.getElementById(`tab-${next.name}`)?.focus()
  }
  return (
    <div className="tabs" role="tablist" aria-label={props.label} onKeyDown={walk}>
      {props.tabs.map(({ name, title }) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={name === chosen}
          aria-controls={props.controls}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => props.onChoose(name)}
        >
          {title}
        </button>
      ))}
    </div>
  )
}
