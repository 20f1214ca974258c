/** Counts the connections that each address opens in each second; the function returns whether one more is allowed. */
export function createConnectionCounter(most: number): (address: string) => boolean {
  const opened = new Map<string, number>()
  let second = 0
  return (address) => {
    const now = Math.floor(performance.now() / 1_000)
    if (now !== second) opened.clear()
    second = now
    const count = (opened.get(address) ?? 0) + 1
    opened.set(address, count)
    return count <= most
  }
}
