import { useEffect, useState } from 'react'
import { defaultTheme, type ProfileTheme } from '#shared/api/people/profile-theme'
import type { Widget } from '#shared/api/people/profile-widgets'
import { profileTexts as t } from '../texts/profiles.ts'
import { Dressed } from './dressed.tsx'
import styles from './profiles.module.css'
import type { Seen } from './shown.ts'
import { isBoard, WidgetBoard } from './widget-board.tsx'
import { WidgetCard } from './widget-card.tsx'
import { shownOf } from './widget-words.ts'

const minuteMilliseconds = 60_000

/** For which account's profile, and when; renewed every minute, as clocks show no seconds. */
export function useSeen(owner: string): Seen {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), minuteMilliseconds)
    return () => clearInterval(timer)
  }, [])
  return { now, owner }
}

/** What somebody shows of themself, as they have dressed it. Of what is empty, or of a type that this page does not know, nothing is shown. */
export function ProfileView(props: { owner: string; widgets: readonly Widget[]; theme: ProfileTheme | null }) {
  const { owner, widgets, theme } = props
  const seen = useSeen(owner)
  return (
    <Dressed theme={theme}>
      <ul className={styles.profileWidgets}>
        {widgets.map((widget) => {
          const shown = shownOf(widget, seen)
          return (
            shown && (
              <li key={widget.id} className={`size-${widget.size}`}>
                <div className={styles.profileWidget}>
                  <WidgetCard shown={shown} />
                  {isBoard(widget) && <WidgetBoard owner={owner} widget={widget} />}
                </div>
              </li>
            )
          )
        })}
      </ul>
      <Badge theme={theme} />
    </Dressed>
  )
}

export const Badge = ({ theme }: { theme: ProfileTheme | null }) =>
  (theme ?? defaultTheme).show_spritz_badge && <p className={styles.profileBadge}>{t.badge}</p>
