import { once } from 'node:events'
import { connect } from 'node:net'
import { createApp } from '#server/app'
import { readConfig } from '#server/config'
import { openPlatform } from '#server/platform'
import { guardedWeb } from '#server/ports/web/guarded'

/** A server in a process of its own, whose guarded web leads to the port `HOOKS_PORT` of this machine. */
const { HOOKS_PORT, ...environment } = process.env
const config = readConfig(environment)
const platform = await openPlatform(config)
await platform.database.buildIndexes()
const web = guardedWeb(null, {
  resolve: async () => ['93.184.216.34'],
  async dial() {
    const socket = connect(Number(HOOKS_PORT), '127.0.0.1')
    await once(socket, 'connect')
    return socket
  },
})
const { url } = await createApp(config, { ...platform, services: { ...platform.services, web } })
console.log(`Plaza is open: ${url}`)
