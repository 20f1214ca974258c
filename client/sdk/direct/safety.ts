import { bytesOf } from './bytes.ts'

const groups = 12

/**
 * What both people compare, to know that nobody stands between them: twelve groups of five digits, equal on both sides. It follows from the
 * keys of both people's devices and nothing else.
 */
export async function safetyNumber(
  devices: readonly { address: string; deviceId: string; key: string }[],
): Promise<string[]> {
  const sorted = devices.map(({ address, deviceId, key }) => [address, deviceId, key].join(' ')).sort()
  const text = ['plaza safety number v1', ...sorted].join('\n')
  const first = new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(text)))
  const second = new Uint8Array(await crypto.subtle.digest('SHA-256', first))
  const bytes = new Uint8Array([...first, ...second])
  return Array.from({ length: groups }, (_, at) => {
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = bytes.subarray(at * 5, at * 5 + 5)
    const number = ((((a * 256 + b) * 256 + c) * 256 + d) * 256 + e) % 100_000
    return `${number}`.padStart(5, '0')
  })
}
