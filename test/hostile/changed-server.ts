import type { Platform } from '#server/platform'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { fakeIssues } from '#server/ports/issues/fake'
import { fakeVideo } from '#server/ports/video/fake'
import { boot } from '#test/support/boot'

/** One server whose platform a test may change: another clock, a logger that remembers. */
export async function openChangedServer(
  environment: Record<string, string> = {},
  change = (platform: Platform) => platform,
) {
  let platform: Platform | undefined
  const { url, opsUrl, apps, close } = await boot({
    nodes: 1,
    environment,
    services: { video: fakeVideo(), issues: fakeIssues(), calendars: fakeCalendars() },
    change: (opened) => {
      platform = opened
      return change(opened)
    },
  })
  const [app] = apps
  if (!app || !platform) throw new Error('The server has not started')
  return { url, opsUrl, app, platform, close }
}
export type ChangedServer = Awaited<ReturnType<typeof openChangedServer>>

/** What went wrong in this process while a test file ran, and how long its loop stood still. */
export function watchProcess() {
  const faults: unknown[] = []
  const note = (error: unknown) => void faults.push(error)
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
  let longestStallMilliseconds = 0
  let last = performance.now()
  const beat = setInterval(() => {
    longestStallMilliseconds = Math.max(longestStallMilliseconds, performance.now() - last - 20)
    last = performance.now()
  }, 20)
  return {
    faults,
    stall: () => longestStallMilliseconds,
    stop() {
      clearInterval(beat)
      process.off('uncaughtException', note)
      process.off('unhandledRejection', note)
    },
  }
}
