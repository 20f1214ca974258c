import { readFileSync } from 'node:fs'
import { getCreate2Address, keccak256 } from 'viem'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { safeAddressOf, safeInitializer, safeProfile } from '#server/domains/people/accounts/smart-account'

const Bytes = z.templateLiteral(['0x', z.string()])
const Row = z.object({ saltNonce: z.string().transform(BigInt), initializer: Bytes, address: Bytes })
const { profile, publishedCreate2, rows } = z
  .object({
    profile: z.record(z.string(), z.unknown()),
    publishedCreate2: z.object({ from: Bytes, salt: Bytes, initCodeHash: Bytes, address: Bytes }),
    rows: z.array(
      z.discriminatedUnion('kind', [
        Row.extend({ kind: z.literal('eoa'), owner: Bytes }),
        Row.extend({ kind: z.literal('passkey'), x: Bytes, y: Bytes }),
      ]),
    ),
  })
  .parse(JSON.parse(readFileSync('test/vectors/safe-addresses.json', 'utf8')))

test.each(rows)('$kind owner, salt $saltNonce: $address', (row) => {
  const owner = row.kind === 'eoa' ? row.owner : { x: row.x, y: row.y }
  expect(safeInitializer(owner)).toBe(row.initializer)
  expect(safeAddressOf(owner, row.saltNonce)).toBe(row.address)
  if (typeof owner === 'string')
    expect(safeAddressOf(Bytes.parse(owner.toLowerCase()), row.saltNonce)).toBe(row.address)
})

test('there are vectors of both kinds', () =>
  expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(['eoa', 'passkey'])))

test('the profile is the one of the vectors', () => {
  const { name, proxyFactory, singleton, singletonInitHash, multiSend, moduleSetup, module4337, sharedSigner } = profile
  expect(safeProfile).toEqual({
    ...{ name, proxyFactory, singleton, proxyCodeHash: singletonInitHash, multiSend, moduleSetup, module4337 },
    sharedSigner,
    verifiers: BigInt(String(profile.verifiers)),
  })
})

test('the published case of the factory', () => {
  const { from, salt, initCodeHash, address } = publishedCreate2
  expect(getCreate2Address({ from, salt, bytecodeHash: initCodeHash })).toBe(address)
  expect([from, initCodeHash]).toEqual([safeProfile.proxyFactory, safeProfile.proxyCodeHash])
})

test('the salt binds the initializer: one bit of a key is another account', () => {
  const x = keccak256('0x01')
  const y = keccak256('0x02')
  const addresses = [safeAddressOf({ x, y }), safeAddressOf({ x: y, y: x }), safeAddressOf({ x, y }, 1n)]
  expect(new Set(addresses).size).toBe(3)
})
