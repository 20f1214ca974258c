/** Runs a function, and returns for how many milliseconds at most it blocked the event loop. Time in which other processes ran does not count. */
export async function longestHold(run: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let isDone = false
  const watched = (async () => {
    while (!isDone) {
      const [from, used] = [performance.now(), process.cpuUsage()]
      await new Promise((resolve) => setImmediate(resolve))
      const { user, system } = process.cpuUsage(used)
      longest = Math.max(longest, Math.min(performance.now() - from, (user + system) / 1000))
    }
  })()
  await run()
  isDone = true
  await watched
  return longest
}
