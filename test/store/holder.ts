import { openEmbedded } from '#server/ports/database/embedded'

/** A process that opens the directory named to it and keeps it until it is killed. */
await openEmbedded(process.argv[2] ?? '')
console.log('open')
setInterval(() => undefined, 1000)
