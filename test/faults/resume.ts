import { Client, type Settled } from './client.ts'
import type { World } from './world.ts'

const refusedWith =
  (...codes: readonly string[]) =>
  (answer: Settled) =>
    !answer.ok && codes.includes(answer.refusal.code)
const isReset = (answer: Settled) =>
  answer.ok && answer.data.reset === true && JSON.stringify(answer.data.events) === '[]'
const isHidden = refusedWith('ROOM_NOT_FOUND', 'NOT_A_MEMBER')
const isInvalid = refusedWith('VALIDATION_ERROR')

/** Checks that wrong positions are refused or answered with a reset, and reveal nothing. */
export async function resumeWrongly({ cluster, stranger, breaches }: World): Promise<void> {
  const { person, room, closed } = stranger
  const client = new Client(person, () => cluster.nodes.map(({ url }) => url), 0)
  const expected = [
    { id: room.id, epoch: 'another', after_seq: 1, is: isReset },
    { id: room.id, after_seq: 1_000_000_000, is: isReset },
    { id: room.id, after_seq: -1, is: isInvalid },
    { id: room.id, after_seq: 2 ** 53, is: isInvalid },
    { id: closed.id, after_seq: 0, is: isHidden },
  ]
  try {
    for (const { id, is, ...position } of expected) {
      for (const event of ['room:sync', 'room:join']) {
        const answer = await asked(client, event, {
          room: { type: id === closed.id ? 'group' : 'channel', id },
          ...position,
        })
        if (!is(answer))
          breaches.push(`F27: ${event} ${JSON.stringify(position)} was answered ${JSON.stringify(answer)}`)
      }
    }
  } finally {
    client.close()
  }
}

async function asked(client: Client, event: string, input: object): Promise<Settled> {
  for (;;) {
    const answer = await client.ask(event, input)
    if (answer.ok !== null) return answer
  }
}
