// Modes: embedded
import { readFileSync } from 'node:fs'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { rooms } from '#shared/api/rooms/rooms'
import { boot } from '#test/support/boot'
import { noChain, startChain } from '#test/support/chain'
import { heavy } from '#test/support/heavy'
import { person } from '#test/support/people'

const token = `0x${'7a'.repeat(20)}` as const
const pieces = `0x${'7b'.repeat(20)}` as const
const asked = { tokenAddress: token, tokenChainId: 31337, name: 'Holders', minBalance: '1000' }

describe.skipIf(noChain)('a room for holders on a real chain', () => {
  test('T80: a transfer lets somebody in', heavy, async () => {
    const Deployed = z.object({ deployed: z.templateLiteral(['0x', z.string()]) })
    const { contracts } = z
      .object({ contracts: z.object({ Token3009: Deployed }) })
      .parse(JSON.parse(readFileSync('test/vectors/evm-test-contracts.json', 'utf8')))
    const abi = parseAbi(['function init(string name, string version)', 'function mint(address to, uint256 value)'])
    const local = await startChain(31337)
    const own = await boot({ environment: { RPC_URL_31337: local.url }, nodes: 1 })
    try {
      await local.client.setCode({ address: token, bytecode: contracts.Token3009.deployed })
      await local.send({
        to: token,
        data: encodeFunctionData({ abi, functionName: 'init', args: ['Local coin', '2'] }),
      })
      const [maker, holder] = await Promise.all([person(own, 'maker'), person(own, 'holder')])
      const { room } = await maker.does('rest', rooms.createTokenRoom, asked)
      expect(room.gate).toMatchObject({ token_name: 'Local coin', token_decimals: 6 })
      const ref = { type: 'token', id: room.id } as const
      expect((await holder.refused('rest', rooms.join, { room: ref })).details).toMatchObject({ actual: '0' })
      const args = [holder.account as Hex, 1000n] as const
      await local.send({ to: token, data: encodeFunctionData({ abi, functionName: 'mint', args }) })
      expect(await holder.does('rest', rooms.recheckGate, { room: ref })).toMatchObject({ answer: { passed: true } })
      await holder.does('rest', rooms.join, { room: ref })
      expect((await maker.refused('rest', rooms.createTokenRoom, { ...asked, tokenAddress: pieces })).code).toBe(
        'VALIDATION_ERROR',
      )
    } finally {
      await own.close()
      await local.close()
    }
  })
})
