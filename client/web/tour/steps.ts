import type { PanelName } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import type { welcomeTexts } from '../texts/welcome.ts'

/** A step of the tour: the room and the panel. Its title, its hint and its prefilled text are in the catalog. */
export interface TourStep {
  name: keyof typeof welcomeTexts.steps
  /** The slug of a channel; without one, the public room. */
  channel?: string
  panel?: PanelName
  /** Whether the step is about an agent, not about a room. */
  asksAgent?: boolean
  /** Whether the connection is cut once the room is loaded. */
  cuts?: boolean
}

export const tourSteps: readonly TourStep[] = [
  { name: 'guest' },
  { name: 'send' },
  { name: 'verdict', channel: 'no-links' },
  { name: 'slow', channel: 'slow-lane' },
  { name: 'ask', asksAgent: true },
  { name: 'drop', cuts: true },
  { name: 'moderate', panel: 'moderation' },
]

export const stepIn = (hash: string): TourStep | null => tourSteps.find(({ name }) => hash === linkToStep(name)) ?? null

export const linkToStep = (name: string): string => `#demo=${name}`

export const lobby: RoomRef = { type: 'alpha', id: null }
