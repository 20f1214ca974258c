import { openEmbedded } from '#server/ports/database/embedded'

/** Builds indexes over what is there, until it is killed. */
const things = (await openEmbedded(process.argv[2] ?? '')).db().collection('things')
console.log('open')
await things.createIndexes([{ key: { n: 1 } }, { key: { tags: 1, group: 1 } }])
