import type { PanelName } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'

/** A step of the tour: the room and the panel, the prefilled text, and a hint. */
export interface TourStep {
  name: string
  title: string
  hint: string
  /** The slug of a channel; without one, the public room. */
  channel?: string
  panel?: PanelName
  text?: string
  /** Whether the step is about an agent, not about a room. */
  asksAgent?: boolean
  /** Whether the connection is cut once the room is loaded. */
  cuts?: boolean
}

export const tourSteps: readonly TourStep[] = [
  {
    name: 'guest',
    title: 'Come in as a guest',
    hint: 'You are in: this browser made a key of its own and signed with it. No extension, no password.',
  },
  {
    name: 'send',
    title: 'Send a message',
    hint: 'Send it: the line turns solid once it has its place in the order of the room.',
    text: 'Hello from the tour',
  },
  {
    name: 'verdict',
    title: 'Have a link refused',
    hint: 'Links are off here. Send it, and read which step refused the message, and why.',
    channel: 'no-links',
    text: 'Look at https://example.org',
  },
  {
    name: 'slow',
    title: 'Wait in slow mode',
    hint: 'Send it, and see when the next message may go. A reload does not shorten the wait.',
    channel: 'slow-lane',
    text: 'No hurry',
  },
  {
    name: 'ask',
    title: 'Ask an agent',
    hint: 'Send it, and reload the page while it answers: the answer goes on. Then stop it.',
    text: 'How does Plaza keep every message in order, and lose none? Tell me all of it, step by step.',
    asksAgent: true,
  },
  {
    name: 'drop',
    title: 'Lose the connection',
    hint: 'Your connection is cut. Write something, wait a little, then connect again: nothing is missing.',
    cuts: true,
  },
  {
    name: 'moderate',
    title: 'Be the moderator',
    hint: 'Choose a message of somebody and mute them: the live log shows it at once.',
    panel: 'moderation',
  },
]

export const stepIn = (hash: string): TourStep | null => tourSteps.find(({ name }) => hash === linkToStep(name)) ?? null

export const linkToStep = (name: string): string => `#demo=${name}`

export const lobby: RoomRef = { type: 'alpha', id: null }
