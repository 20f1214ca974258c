import { afterEach, describe, expect, test } from 'vitest'
import { GLOBAL, type RoomLog } from '#server/log/index'
import { type Policy, strictPolicy } from '#server/log/policy'
import { edit, join, leave, moderate, say, slow } from './chat.ts'
import { clockOf, Nodes, pause } from './nodes.ts'
import { type Rule, rulesOfLog, without } from './weaker.ts'

let nodes = new Nodes()
afterEach(async () => {
  await nodes.stop()
  nodes = new Nodes()
})

/** Resolves with whether the promise held. It must hold with every rule on, and must not hold without the rule it depends on. */
type Scenario = (policy: Partial<Policy>) => Promise<boolean>

function rule(name: Rule, promise: string, scenario: Scenario): void {
  describe(name, () => {
    test(promise, async () => expect(await scenario({})).toBe(true))
    test('without the rule this is broken', async () => expect(await scenario(without(name))).toBe(false))
  })
}

const room = 'channel:one'
const hasty = without('wait for every node')
const typesIn = (key = room) => nodes.memory.log(key).map(({ type, sender }) => `${type} ${sender}`)
const codeOf = (act: Promise<unknown>) =>
  act.then(
    () => 'OK',
    (error) => error.code,
  )

test('M52: each rule of the policy is switched off by a test', () => {
  const { deadlineFactor, reached, ...rules } = strictPolicy
  expect(rulesOfLog.flatMap((name) => Object.keys(without(name))).sort()).toEqual(Object.keys(rules).sort())
})

rule('judge on the draft', 'of two edits of one version in one turn, one is accepted', async (policy) => {
  const log = nodes.alone({ policy })
  await log.act(room, join('ada'))
  const { row } = await log.act(room, say('ada'))
  const codes = await Promise.all([
    codeOf(log.act(room, edit('ada', row?._id ?? '', 1))),
    codeOf(log.act(room, edit('ada', row?._id ?? '', 1))),
  ])
  return codes.includes('OK') && codes.includes('CONFLICT')
})

rule('refuse on a fresh view', 'nobody is refused for a ban that was lifted on another node', async (policy) => {
  nodes.hasHints = false
  const [one, other] = [
    nodes.start('one', { policy: hasty }),
    nodes.start('other', { policy, pollMilliseconds: 60_000 }),
  ]
  await one.act(room, join('ada'))
  await one.act(room, moderate('ban', 'ada'))
  await other.head(room)
  await one.act(room, moderate('unban', 'ada'))
  await one.act(room, join('ada'))
  return (await codeOf(other.act(room, say('ada')))) === 'OK'
})

rule(
  'hold refusals until the insert is decided',
  'no act is refused because of a row whose insert fails',
  async (policy) => {
    nodes.hasHints = false
    const both = { ...policy, ...without('refuse on a fresh view') }
    const [one, other] = [
      nodes.start('one', { policy: hasty }),
      nodes.start('other', { policy: both, pollMilliseconds: 60_000 }),
    ]
    for (const user of ['ada', 'bo']) await one.act(room, join(user))
    const { row } = await one.act(room, say('ada'))
    const id = row?._id ?? ''
    await other.ask(room, (view) => [
      view.get(`text:${id}`),
      ...['ada', 'bo'].map((user) => [view.get(`member:${user}`), view.get(`ban:${user}`)]),
    ])
    await one.act(room, moderate('ban', 'ada'))
    // On the other node, which does not know of the ban, the first edit blocks the second only until its insert fails.
    const codes = await Promise.all([
      codeOf(other.act(room, edit('ada', id, 1))),
      codeOf(other.act(room, edit('bo', id, 1))),
    ])
    return codes[0] === 'BANNED' && codes[1] === 'OK'
  },
)

rule(
  'look for the key before a refusal',
  'a repeated key is answered with its first row, even if the act would now be refused',
  async (policy) => {
    const log = nodes.alone({ policy })
    await log.act(room, join('ada'))
    const first = await log.act(room, say('ada', 'the-key'))
    await Promise.all(Array.from({ length: 500 }, () => log.act(room, say('ada'))))
    await log.act(room, leave('ada'))
    const second = await log.act(room, say('ada', 'the-key')).catch(() => null)
    return second?.row?._id === first.row?._id && second?.row !== null
  },
)

rule('write records before the ack', 'an acknowledged ban is in the records', async (policy) => {
  const save = async (...saved: Parameters<typeof nodes.kept.save>) => {
    await pause(30)
    nodes.kept.save(...saved)
  }
  const log = nodes.alone({ policy, records: { load: async (key, keys) => nodes.kept.load(key, keys), save } })
  await log.act(room, moderate('ban', 'ada'))
  return nodes.kept.records.has(`${room} ban:ada`)
})

/** Suspends an account on one node; resolves with whether a message of that account is stored after the acknowledgement. */
async function isSilenced(one: RoomLog, sending: () => Promise<unknown>): Promise<boolean> {
  const outcome = await one.act(GLOBAL, moderate('suspend', 'ada'))
  const before = typesIn().length
  await sending()
  return outcome.row !== null && outcome.pendingNodes === 0 && typesIn().length === before
}

rule(
  'wait for every node',
  'a suspended account writes on no node once the suspension is acknowledged',
  async (policy) => {
    nodes.hasHints = false
    const [one, other] = [nodes.start('one', { policy }), nodes.start('other', { pollMilliseconds: 200 })]
    await other.act(room, join('ada'))
    await other.act(room, say('ada'))
    return isSilenced(one, () => codeOf(other.act(room, say('ada'))))
  },
)

rule(
  'confirm what is decided',
  'a message that is being inserted is stored before the suspension is acknowledged',
  async (policy) => {
    let isSlow = false
    const other = nodes.start('other', {
      policy,
      reach: async (name, work) => {
        if (name === 'insert' && isSlow) await pause(200)
        return work()
      },
    })
    const one = nodes.start('one')
    await other.act(room, join('ada'))
    await other.act(room, say('ada'))
    isSlow = true
    const sent = codeOf(other.act(room, say('ada')))
    await pause(5)
    return isSilenced(one, () => sent)
  },
)

rule('find out an unknown fate', 'the outcome of an insert whose answer was lost is found out', async (policy) => {
  let isSlow = false
  const other = nodes.start('other', {
    policy,
    reach: async (name, work) => {
      if (name !== 'insert' || !isSlow) return work()
      setTimeout(() => {
        try {
          work()
        } catch {
          // Another attempt has stored the row.
        }
      }, 300)
      await pause(20)
      throw new Error('No answer.')
    },
  })
  const one = nodes.start('one')
  await other.act(room, join('ada'))
  await other.act(room, say('ada'))
  isSlow = true
  const sent = codeOf(other.act(room, say('ada')))
  await pause(5)
  return isSilenced(one, () => Promise.all([sent, pause(400)]))
})

rule('lease before the view', 'an act of moderation waits for a node that is opening the room', async (policy) => {
  nodes.hasHints = false
  const one = nodes.start('one')
  await one.act(room, join('ada'))
  for (const type of ['suspend', 'unsuspend']) await one.act(GLOBAL, moderate(type, 'ada'))
  let isFirst = true
  const other = nodes.start('other', {
    policy,
    pollMilliseconds: 400,
    reach: async (name, work) => {
      const answer = work()
      // The node has read `global`, but not yet processed the answer.
      if (name === 'read' && isFirst) {
        isFirst = false
        await pause(100)
      }
      return answer
    },
  })
  const opening = other.head(room)
  await pause(10)
  return isSilenced(one, () => opening.then(() => codeOf(other.act(room, say('ada')))))
})

rule('judge under a live lease', 'a node that was paused reads `global` before it acts again', async (policy) => {
  nodes.hasHints = false
  let shift = 0
  const clock = { ...clockOf(1), elapsed: () => performance.now() + shift }
  const one = nodes.start('one', { clock, pollMilliseconds: 60_000 })
  const other = nodes.start('other', { clock, policy, pollMilliseconds: 60_000 })
  await other.act(room, join('ada'))
  await other.act(room, say('ada'))
  await one.act(GLOBAL, moderate('suspend', 'bo'))
  shift = 11_000
  return isSilenced(one, () => codeOf(other.act(room, say('ada'))))
})

rule(
  'send nothing again without a lease',
  'a message whose lease has expired is judged again before it is inserted again',
  async (policy) => {
    nodes.hasHints = false
    let shift = 0
    let isDown = false
    const clock = { ...clockOf(1), elapsed: () => performance.now() + shift }
    const one = nodes.start('one', { clock, pollMilliseconds: 60_000 })
    const other = nodes.start('other', {
      clock,
      policy,
      pollMilliseconds: 60_000,
      reach: async (name, work) => {
        if (name === 'insert' && isDown) throw new Error('Not stored.')
        return work()
      },
    })
    await other.act(room, join('ada'))
    await other.act(room, say('ada'))
    await one.act(GLOBAL, moderate('suspend', 'bo'))
    isDown = true
    const sent = codeOf(other.act(room, say('ada')))
    await pause(20)
    shift = 11_000
    return isSilenced(one, () => {
      isDown = false
      return sent
    })
  },
)

rule('time never runs back', 'slow mode holds on nodes whose clocks differ', async (policy) => {
  const [ahead, behind] = [
    nodes.start('ahead'),
    nodes.start('behind', { clock: { ...clockOf(1), now: () => Date.now() - 10_000 }, policy }),
  ]
  await ahead.act(room, slow(0))
  await behind.act(room, join('ada'))
  const times = nodes.memory.log(room).map(({ at }) => at)
  return times.every((at, index) => at >= (times[index - 1] ?? 0))
})
