import type { Place } from '#client/sdk/media'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { OuterLink } from '../messages/outer-link.tsx'
import { mediaTexts as t } from '../texts/media.ts'
import styles from './media.module.css'
import { MediaFault } from './media-fault.tsx'

/** A place that a message names. Nothing is loaded for it; the map is another site, opened by a press. */
export function PlaceCard({ place }: { place: Place | null }) {
  if (!place) return <MediaFault text={t.faults.place} />
  const { latitude, longitude, name } = place
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=15/${latitude}/${longitude}`
  return (
    <section className={styles.place} aria-label={t.place.card}>
      <Icon name="place" />
      <div>
        <strong>{name ? isolated(name) : t.place.card}</strong>
        <p className="numerals">{inDegrees(place)}</p>
        <OuterLink href={map}>{t.place.map}</OuterLink>
      </div>
    </section>
  )
}

export const inDegrees = ({ latitude, longitude }: Place): string =>
  `${Math.abs(latitude)}° ${latitude < 0 ? 'S' : 'N'}, ${Math.abs(longitude)}° ${longitude < 0 ? 'W' : 'E'}`
