import { describe, expect, test } from 'vitest'
import {
  isShownLive,
  nextStreamState,
  type StreamEvent,
  type StreamFacts,
} from '#server/domains/streams/streams/states'

const now = Date.UTC(2026, 0, 1, 12)
const at = (seconds: number) => new Date(now + seconds * 1_000)
const grace = 30_000
const idle: StreamFacts = {
  ...{ status: 'idle', reason: 'waiting', created_at: at(-100), started_at: null },
  ...{ ended_at: null, grace_until: null, is_published: false },
}
const live: StreamFacts = { ...idle, status: 'live', reason: 'live', started_at: at(-90), is_published: true }
const said: StreamFacts = { ...live, reason: 'waiting', is_published: false }
const away: StreamFacts = { ...live, reason: 'interrupted', grace_until: at(10) }
const ended: StreamFacts = { ...live, status: 'ended', reason: 'ended_by_owner', ended_at: at(-1) }
const end = (reason: string) => ({ status: 'ended', reason, ended_at: at(0), grace_until: null })
const picture = { status: 'live', reason: 'live', is_published: true, grace_until: null }

const table: [string, StreamFacts, StreamEvent, object | null][] = [
  ['idle', idle, 'started', { ...picture, started_at: at(0) }],
  ['idle', idle, 'interrupted', null],
  ['idle', idle, 'stopped', null],
  ['idle', idle, 'go_live', { status: 'live', reason: 'waiting', started_at: at(0), is_published: false }],
  ['idle', idle, 'end', end('ended_by_owner')],
  ['idle', idle, 'shut', end('ended_by_moderator')],
  ['idle', idle, 'tick', null],
  ['idle for an hour', { ...idle, created_at: at(-3_601) }, 'tick', end('never_published')],
  ['idle for almost an hour', { ...idle, created_at: at(-3_600) }, 'tick', null],
  ['live', live, 'started', null],
  ['live', live, 'interrupted', { reason: 'interrupted', grace_until: at(30) }],
  ['live', live, 'stopped', end('publisher_stopped')],
  ['live', live, 'go_live', null],
  ['idle again, as no picture came', { ...idle, reason: 'no_picture' }, 'go_live', null],
  ['live', live, 'tick', null],
  ['said to be live', said, 'started', { ...picture, started_at: at(-90) }],
  ['said to be live', said, 'interrupted', null],
  ['said to be live', said, 'stopped', null],
  ['said to be live for 60 s', { ...said, started_at: at(-60) }, 'tick', null],
  ['said to be live for longer', said, 'tick', { status: 'idle', reason: 'no_picture', started_at: null }],
  ['away', away, 'started', { ...picture, started_at: at(-90) }],
  ['away', away, 'interrupted', null],
  ['away', away, 'stopped', end('connection_lost')],
  ['away', away, 'end', end('ended_by_owner')],
  ['away', away, 'tick', null],
  ['away, and just late', { ...away, grace_until: at(-2) }, 'tick', null],
  ['away for too long', { ...away, grace_until: at(-2.001) }, 'tick', end('connection_lost')],
  ...(['started', 'interrupted', 'stopped', 'end', 'tick'] as const).map(
    (happening): [string, StreamFacts, StreamEvent, null] => ['ended', ended, happening, null],
  ),
]

describe('what happens to a stream', () => {
  test.each(table)('that is %s: %o', (_title, stream, happening, change) => {
    expect(nextStreamState(stream, happening, now, grace)).toEqual(change)
  })

  test('that has ended: nobody makes it live again', () => {
    expect(() => nextStreamState(ended, 'go_live', now, grace)).toThrow(
      expect.objectContaining({ code: 'STREAM_ENDED' }),
    )
  })
})

const shown: [string, StreamFacts, boolean | null, boolean][] = [
  ['idle', idle, true, false],
  ['ended', ended, true, false],
  ['live for less than a minute', { ...live, started_at: at(-59) }, false, true],
  ['only said to be live, for less than a minute', { ...said, started_at: at(-59) }, null, false],
  ['only said to be live, and the provider sees something', { ...said, started_at: at(-61) }, true, false],
  ['live for a minute, and the provider sees it', { ...live, started_at: at(-60) }, true, true],
  ['live for a minute, and the provider does not', { ...live, started_at: at(-60) }, false, false],
  ['live, and the provider does not answer', live, null, true],
  ['only said to be live, and the provider does not answer', said, null, false],
  ['away within the grace', away, false, true],
  ['away after it', { ...away, grace_until: at(0) }, true, false],
]

test.each(shown)('a stream that is %s is shown so', (_title, stream, isSeen, isLive) => {
  expect(isShownLive(stream, now, isSeen)).toBe(isLive)
})
