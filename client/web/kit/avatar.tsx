import type { CSSProperties } from 'react'
import { cut } from '#shared/kit/cut'
import { nameOf } from './format.ts'

/** A picture of a person. The initials are part of the image, not text, as the name is always beside it. */
export function Avatar(props: {
  id: string
  name: string | null | undefined
  size?: 'small' | 'large'
  isOnline?: boolean
  /** Of this server's own storage; the initials are shown without it. */
  picture?: string | null
}) {
  const initials = initialsOf(nameOf(props.name, props.id))
  const hue = { '--hue': hueOf(props.id) } as CSSProperties
  return (
    <span className={`avatar ${props.size ?? ''}`} style={hue} data-initials={initials} aria-hidden="true">
      {props.picture && <img src={props.picture} alt="" loading="lazy" referrerPolicy="no-referrer" />}
      {props.isOnline && <i />}
    </span>
  )
}

function initialsOf(name: string): string {
  const words = name
    .replace(/^0x|\p{Cf}/giu, '')
    .split(/[\s._-]+/)
    .filter(Boolean)
  const letters = words.length > 1 ? words.slice(0, 2).map((word) => cut(word, 1)) : [cut(words[0] ?? '?', 2)]
  return letters.join('').toUpperCase()
}

/** A colour that is derived from the id, so that it is the same everywhere. */
function hueOf(id: string): number {
  let hash = 7
  for (const character of id) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 9973
  return (hash * 137) % 360
}
