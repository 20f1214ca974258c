import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { audiences, type Node } from '#server/kernel/context'
import { streams } from '#shared/api/streams/streams'
import { people, tolerate } from './people.ts'
import { oneOf, shuffled } from './script.ts'

const streamer = 'demo:kofi'
const about = { title: 'The station clock', description: 'A clock that is made here, live all day.' }
const lookMilliseconds = 2_000

const lines = [
  'Good to see the clock again.',
  'The red square makes one lap a second, doesn’t it?',
  'I set my watch by this.',
  'What are the squares at the bottom?',
  'The time in milliseconds, as bits. Light is one.',
  'So you can read off the delay. Nice.',
  'Mine is a bit over a second behind.',
  'Greetings from the train!',
  'Does anybody else watch this while cooking?',
  'Seven minutes for the eggs, thank you.',
  'It never misses a beat.',
  'I like that nothing happens here.',
  'Something happens every second!',
  'Half past already?',
  'Who winds it up?',
  'It is made in the server, picture by picture.',
  'No camera at all?',
  'None. You can go live with one yourself, it is on the first page.',
  'See you at the full hour.',
  'I was here at the full hour yesterday. Worth it.',
]

/** Keeps one demo account live, if the provider makes a clock. Others write while the stream has viewers. */
export async function keepLive(node: Node, signal: AbortSignal): Promise<void> {
  const { video } = node.services
  if (!video?.publishClock) return
  let talkedOf = ''
  let talking = new AbortController()
  while (!signal.aborted) {
    try {
      const { stream } = await node.callAs(streamer, streams.create, about)
      await video.publishClock(stream.stream_id)
      if (stream.id !== talkedOf) {
        talking.abort()
        talking = new AbortController()
        talkedOf = stream.id
        void talk(node, stream.id, AbortSignal.any([signal, talking.signal]))
      }
    } catch {
      // The engine is starting, for the first time or again.
    }
    await sleep(lookMilliseconds, undefined, { ref: false })
  }
}

/** One line after the other, in another order each time. */
async function talk(node: Node, id: string, signal: AbortSignal): Promise<void> {
  const isWatched = () => node.live.audienceSize('/streams', audiences.stream(id)) > 0
  let ahead: string[] = []
  try {
    for (;;) {
      await sleep(randomInt(2_500, 8_000), undefined, { signal, ref: false })
      if (!isWatched()) continue
      if (ahead.length === 0) ahead = shuffled(lines)
      const message = ahead.shift() ?? ''
      await tolerate(node.callAs(oneOf(people.filter((one) => one !== streamer)), streams.say, { id, message }))
    }
  } catch (error) {
    if (!signal.aborted) node.logger.warn({ error }, 'the talk about the clock has ended')
  }
}
