import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '#test/support/wallet'
import { percentiles } from './load.ts'

const everyMilliseconds = 1_100

/** People who write in a room, each once a second, until it is over. A refused message voids the run. */
export function writersIn(url: string, members: readonly { token: string }[], id: string) {
  const room = { type: 'channel', id } as const
  const lines = members.map(({ token }) => connect(url, '/rooms', token))
  return {
    during(milliseconds: number) {
      const end = performance.now() + milliseconds
      return this.until(() => performance.now() >= end)
    },
    async until(isOver: () => boolean) {
      const took: number[] = []
      const write = async (line: (typeof lines)[number]) => {
        await sleep(Math.random() * everyMilliseconds)
        while (!isOver()) {
          const begun = performance.now()
          const ack = await line.timeout(20_000).emitWithAck('message:send', { room, text: 'What somebody has to say' })
          const waited = performance.now() - begun
          if (!ack.ok) throw new Error(`This run is void: ${JSON.stringify(ack.error)}`)
          took.push(waited)
          await sleep(Math.max(0, everyMilliseconds - waited))
        }
      }
      await Promise.all(lines.map(write))
      return percentiles(took)
    },
    close() {
      for (const line of lines) line.close()
    },
  }
}
