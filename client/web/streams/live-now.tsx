import { linkTo } from '#shared/kit/pages'
import { isolated, nameOf } from '../kit/format.ts'
import { PlaceRow } from '../rooms/place-row.tsx'
import { streamTexts as t } from '../texts/streams.ts'
import { useLiveNow } from './use-stream.ts'

/** The way to the livestreams while somebody is live, or they are open: who it is, as far as it fits. */
export function LiveNow({ isOpen }: { isOpen: boolean }) {
  const [first, ...others] = useLiveNow()?.streams ?? []
  if (!first && !isOpen) return null
  const name = first ? nameOf(first.streamer.display_name, first.streamer.address) : ''
  const who =
    others.length === 0 ? `${name}: ${isolated(first?.title ?? '')}` : t.others({ name, count: others.length })
  return <PlaceRow icon="play" title={t.now} href={linkTo('live')} isOpen={isOpen} detail={first && who} />
}
