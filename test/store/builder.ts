import { openEmbedded } from '#server/ports/database/embedded'
import { Storage } from '#server/ports/database/embedded/storage'

/** Builds indexes over the stored documents until it is killed, or kills itself after a number of commits. */
const [directory = '', writes] = process.argv.slice(2)
const things = (await openEmbedded(directory)).db().collection('things')
if (writes) dieBeforeWrite(Number(writes))
console.log('open')
await things.createIndexes([{ key: { n: 1 } }, { key: { tags: 1, group: 1 } }])

function dieBeforeWrite(last: number): void {
  const { write } = Storage.prototype
  let begun = 0
  Storage.prototype.write = function (run) {
    if (++begun === last) process.kill(process.pid, 'SIGKILL')
    return write.call(this, run) as never
  }
}
