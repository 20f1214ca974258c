import type { Widget, WidgetType } from '#shared/api/people/profile-widgets'
import { configOf } from './config.ts'
import type { Seen, Shown, WordsOf } from './shown.ts'
import { media } from './words/media.ts'
import { personal } from './words/personal.ts'
import { places } from './words/places.ts'
import { playful } from './words/playful.ts'
import { services } from './words/services.ts'

const words: WordsOf<WidgetType> = { ...services, ...places, ...personal, ...media, ...playful }

/** What a widget looks like; null where nothing of it would be seen, and of types that this page does not know. */
export function shownOf({ widget_type, config }: Pick<Widget, 'widget_type' | 'config'>, seen: Seen): Shown | null {
  const shown = words[widget_type]?.(configOf(config), seen)
  return shown && isSeen(shown) ? shown : null
}

function isSeen({ title, big, prose, ...parts }: Shown): boolean {
  const texts = [title, big, prose?.text]
  const lists = [parts.lines, parts.facts, parts.items, parts.chips, parts.colors, parts.pictures, parts.turns?.texts]
  return texts.some(Boolean) || lists.some((list) => (list?.length ?? 0) > 0) || parts.link !== undefined
}
