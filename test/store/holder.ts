import { openEmbedded } from '#server/ports/database/embedded'

/** A process that opens the given directory and holds it until it is killed. */
await openEmbedded(process.argv[2] ?? '')
console.log('open')
setInterval(() => undefined, 1000)
