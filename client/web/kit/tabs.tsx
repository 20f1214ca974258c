import { DirectionProvider } from '@base-ui/react/direction-provider'
import { Tabs as Base } from '@base-ui/react/tabs'
import { type ReactNode, useEffect } from 'react'
import { direction } from '../texts/language.ts'
import { allArrows } from './keys.ts'

interface Tab<Name extends string> {
  name: Name
  title: ReactNode
}

/** A row of tabs: the arrow keys choose the next one that is shown. */
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
  const list = (
    <Base.List className="tabs" aria-label={props.label} activateOnFocus>
      {props.tabs.map(({ name, title }) => (
        <Base.Tab key={name} id={`tab-${name}`} value={name} aria-controls={props.controls}>
          {title}
        </Base.Tab>
      ))}
    </Base.List>
  )
  return (
    <DirectionProvider direction={direction}>
      <Base.Root
        value={chosen}
        orientation={allArrows}
        onValueChange={(name: Name) => props.onChoose(name)}
        render={list}
      />
    </DirectionProvider>
  )
}
