import type { CSSProperties, ReactNode } from 'react'
import type { ProfileTheme } from '#shared/api/people/profile-theme'
import { useStoredPicture } from '../media/stored.ts'
import styles from './dressed.module.css'
import profilesStyles from './profiles.module.css'
import { styleOf } from './theme-style.ts'

/** Draws its content in the colours of a theme, or of the page if no theme is saved. A picture behind it is drawn if it is stored here. */
export function Dressed({ theme, children }: { theme: ProfileTheme | null; children: ReactNode }) {
  const picture = useStoredPicture(theme?.background_type === 'image' ? theme.background_value : null)
  if (!theme) return <div className={profilesStyles.profile}>{children}</div>
  return (
    <div
      className={`${profilesStyles.profile} ${theme.card_style} font-${theme.font_family}`}
      style={styleOf(theme, picture)}
    >
      <Effect name={theme.background_effect} />
      {children}
    </div>
  )
}

const pieces = 24
/** Steps that are coprime to what they are taken of, so that pieces lie neither in rows nor on one another. */
const steps = { left: 61, top: 37, delay: 29, size: 7 }

/** What moves behind the cards; it stays still for whoever wants less motion. */
function Effect({ name }: { name: ProfileTheme['background_effect'] }) {
  if (name === 'none') return null
  return (
    <div className={`${styles.profileEffect} ${name}`} aria-hidden="true">
      {Array.from({ length: pieces }, (_, at) => {
        const style = {
          left: `${(at * steps.left) % 100}%`,
          top: `${(at * steps.top) % 100}%`,
          '--late': `${-((at * steps.delay) % 100) / 10}s`,
          '--large': 0.6 + ((at * steps.size) % 10) / 10,
        } as CSSProperties
        return <i key={style.left} style={style} />
      })}
    </div>
  )
}
