import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { build, programs } from '#test/support/programs'
import { freshDatabaseUri } from '#test/support/test-servers'
import { call, signIn, wallet } from '#test/support/wallet'
import { startCrew } from './crew.ts'

beforeAll(build)

test('nodes without configured keys, each with its own directory, accept the sessions of one another', async () => {
  const database = freshDatabaseUri() ?? ''
  const nodes = await Promise.all([1, 1].map((workers) => startCrew(programs.main, workers, database)))
  for (const { end } of nodes) onTestFinished(end)
  for (const [at, name] of ['Ada', 'Bela'].entries()) {
    const { sessionToken, address } = await signIn(nodes[at]?.url ?? '', wallet(name))
    const answer = await call(nodes[1 - at]?.url ?? '', 'GET /api/auth/session', null, sessionToken)
    expect(answer.body).toMatchObject({ userAddress: address })
  }
})
