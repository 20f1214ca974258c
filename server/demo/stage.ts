import { demoChannels } from '#server/domains/rooms/room-state/demo-rooms'
import type { RulesPatch } from '#shared/api/moderation/verdict'
import type { RoomRef } from '#shared/kit/primitives'
import type { Dialogue } from './script.ts'
import { askAnything } from './talk/ask-anything.ts'
import { lobby } from './talk/lobby.ts'
import { noLinks } from './talk/no-links.ts'
import { showAndTell } from './talk/show-and-tell.ts'
import { slowLane } from './talk/slow-lane.ts'

export interface Stage {
  room: RoomRef
  /** What the room is, where it is not there without the demo. */
  channel: { slug: string; name: string; description: string; emoji: string; category: string } | null
  rules: RulesPatch
  pinned: string
  polls: readonly { question: string; options: readonly string[] }[]
  dialogues: readonly Dialogue[]
  /** How many of them have been spoken before anybody comes. */
  spoken: number
  /** A message that waits for the moderators from the start. */
  flagged?: { word: string; text: string; sender: string }
  /** How long the room rests between two lines. */
  restSeconds: number
}

const channel = (place: number): RoomRef => ({ type: 'channel', id: demoChannels[place - 1] ?? null })

export const stages: readonly Stage[] = [
  {
    room: { type: 'alpha', id: null },
    channel: null,
    rules: {
      rules_text: 'Be kind, be curious, and say hello. The others here are scripted, so nobody will mind a test.',
    },
    pinned:
      'Welcome! This is the lobby of the demo: everybody who signs in is here, and those with a script never sleep.',
    polls: [
      { question: 'What keeps you company while you work?', options: ['Music', 'A podcast', 'The street', 'Silence'] },
    ],
    dialogues: lobby,
    spoken: 5,
    restSeconds: 0,
  },
  {
    room: channel(1),
    channel: {
      slug: 'show-and-tell',
      name: 'Show and tell',
      description: 'Bring something you made, found or finally fixed.',
      emoji: '🎨',
      category: 'creative',
    },
    rules: { rules_text: 'Show your own things. Ask before you give advice.' },
    pinned: 'Half-finished is welcome here. Tell us what it is, and what you are stuck on.',
    polls: [{ question: 'Theme for Sunday?', options: ['Something blue', 'A repair', 'Ten minutes only', 'A gift'] }],
    dialogues: showAndTell,
    spoken: 2,
    restSeconds: 0,
  },
  {
    room: channel(2),
    channel: {
      slug: 'ask-anything',
      name: 'Ask anything',
      description: 'No question is too small. Answers come with reasons.',
      emoji: '💡',
      category: 'general',
    },
    rules: { rules_text: 'Every question is a good one. If you do not know, say so.' },
    pinned: 'Before you ask: what did you try, and what happened instead? That gets you the best answers.',
    polls: [],
    flagged: {
      word: 'spare tickets',
      text: 'I have two spare tickets for Saturday and cannot go. Is it all right to pass them on in here?',
      sender: 'demo:sam',
    },
    dialogues: askAnything,
    spoken: 2,
    restSeconds: 0,
  },
  {
    room: channel(3),
    channel: {
      slug: 'no-links',
      name: 'No links please',
      description: 'Talk about what you read without linking to it. Try one, and see why it is refused.',
      emoji: '📚',
      category: 'general',
    },
    rules: { links_allowed: 'disabled', rules_text: 'Titles and names, no links. The room says so when you try.' },
    pinned: 'Links are switched off in this room. Tell us the title and why it stayed with you.',
    polls: [],
    dialogues: noLinks,
    spoken: 2,
    restSeconds: 0,
  },
  {
    room: channel(4),
    channel: {
      slug: 'slow-lane',
      name: 'Slow lane',
      description: 'One message every ten seconds. It changes how people talk.',
      emoji: '🐢',
      category: 'general',
    },
    rules: { slow_mode_seconds: 10, rules_text: 'Ten seconds between two messages of yours. Take your time.' },
    pinned: 'Slow mode is on: ten seconds between two messages. The box tells you when it is your turn again.',
    polls: [],
    dialogues: slowLane,
    spoken: 2,
    restSeconds: 11,
  },
]
