import { createHash, createSign, generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  hexToBytes,
  numberToHex,
  parseAbi,
  size,
  toHex,
  zeroAddress,
  zeroHash,
} from 'viem'
import { z } from 'zod'
import { type SafeOwner, safeInitializer, safeProfile } from '#server/domains/people/accounts/smart-account'
import { type LocalChain, noChain } from './chain.ts'

const require = createRequire(import.meta.url)
const contracts = '@safe-global/safe-contracts'
const Bytes = z.templateLiteral(['0x', z.string()])

/** The bytes that create a contract, of the package that publishes them. */
function creationCode(path: string): Hex {
  const file = require.resolve(`${contracts}/build/artifacts/contracts/${path}`)
  return z.object({ bytecode: Bytes }).parse(JSON.parse(readFileSync(file, 'utf8'))).bytecode
}

/** Why no Safe can be deployed here; null where one can. */
export const noSafe = ((): string | null => {
  if (noChain !== null) return noChain
  try {
    creationCode('SafeL2.sol/SafeL2.json')
    return null
  } catch {
    return `${contracts} is not installed`
  }
})()

const published = {
  [safeProfile.proxyFactory]: 'proxies/SafeProxyFactory.sol/SafeProxyFactory.json',
  [safeProfile.singleton]: 'SafeL2.sol/SafeL2.json',
  [safeProfile.multiSend]: 'libraries/MultiSend.sol/MultiSend.json',
}
/** Every chain is given the published contracts by the same factory, at addresses that follow from their code. */
const singletonFactory = '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7'
/** A factory of the same code, which the local chain begins with. */
const sameFactory = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

const standIns = z
  .object({ contracts: z.record(z.string(), z.object({ deployed: Bytes })) })
  .parse(JSON.parse(readFileSync('test/vectors/passkey-signer.json', 'utf8'))).contracts

/** Deploys the profile's contracts: the published ones by their factory, ours in place of the others. */
export async function deploySafeContracts({ client, send }: LocalChain): Promise<void> {
  const bytecode = (await client.getCode({ address: sameFactory })) ?? '0x'
  await client.setCode({ address: singletonFactory, bytecode })
  for (const [address, path] of Object.entries(published)) {
    await send({ to: singletonFactory, data: concatHex([zeroHash, creationCode(path)]) })
    if (!(await client.getCode({ address: address as Hex }))) throw new Error(`${path} is not at ${address}`)
  }
  const { ModuleSetup, PasskeySigner } = standIns
  await client.setCode({ address: safeProfile.moduleSetup, bytecode: ModuleSetup?.deployed ?? '0x' })
  await client.setCode({ address: safeProfile.sharedSigner, bytecode: PasskeySigner?.deployed ?? '0x' })
}

export const safeAbi = parseAbi([
  'function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce) returns (address)',
  'function nonce() view returns (uint256)',
  'function isModuleEnabled(address module) view returns (bool)',
  'function getTransactionHash(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, uint256 nonce) view returns (bytes32)',
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool)',
])

/** Deploys an owner's account, as its first transaction would. */
export async function deploySafe({ send }: LocalChain, owner: SafeOwner): Promise<void> {
  const args = [safeProfile.singleton, safeInitializer(owner), 0n] as const
  const data = encodeFunctionData({ abi: safeAbi, functionName: 'createProxyWithNonce', args })
  await send({ to: safeProfile.proxyFactory, data })
}

interface Spent {
  to: Hex
  value?: bigint
  data?: Hex
}

/** A transaction of an account, signed by the given owners. */
export async function spend(
  { client, send }: LocalChain,
  safe: Hex,
  { to, value = 0n, data = '0x' }: Spent,
  sign: (hash: Hex) => Hex | Promise<Hex>,
): Promise<void> {
  const nonce = await client.readContract({ address: safe, abi: safeAbi, functionName: 'nonce' })
  const spent = [to, value, data, 0, 0n, 0n, 0n, zeroAddress, zeroAddress] as const
  const reading = { address: safe, abi: safeAbi, functionName: 'getTransactionHash' } as const
  const hash = await client.readContract({ ...reading, args: [...spent, nonce] })
  const signatures = await sign(hash)
  await send({
    to: safe,
    data: encodeFunctionData({ abi: safeAbi, functionName: 'execTransaction', args: [...spent, signatures] }),
  })
}

/** A P-256 key that answers challenges as an authenticator does. */
export function softPasskey(site: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const presentAndVerified = 5
  const device = Buffer.concat([
    createHash('sha256').update(new URL(site).hostname).digest(),
    Buffer.of(presentAndVerified, 0, 0, 0, 1),
  ])

  /** What a Safe reads as the signature of the contract that checks passkeys. */
  function sign(challenge: Hex): Hex {
    const fields = `"origin":"${site}","crossOrigin":false`
    const text = Buffer.from(hexToBytes(challenge)).toString('base64url')
    const client = Buffer.from(`{"type":"webauthn.get","challenge":"${text}",${fields}}`)
    const signed = createSign('sha256').update(device).update(createHash('sha256').update(client).digest())
    const pair = signed.sign({ key: privateKey, dsaEncoding: 'ieee-p1363' })
    const [r, s] = [pair.subarray(0, 32), pair.subarray(32)].map((half) => BigInt(toHex(half)))
    const types = [{ type: 'bytes' }, { type: 'string' }, { type: 'uint256' }, { type: 'uint256' }] as const
    return contractSignature(encodeAbiParameters(types, [toHex(device), fields, r ?? 0n, s ?? 0n]))
  }

  const point = (coordinate: string): Hex => toHex(Buffer.from(coordinate, 'base64url'))
  return { x: point(x), y: point(y), sign }
}

const contractSignature = (signature: Hex): Hex =>
  concatHex([
    encodePacked(['uint256', 'uint256', 'uint8'], [BigInt(safeProfile.sharedSigner), 65n, 0]),
    numberToHex(size(signature), { size: 32 }),
    signature,
  ])
