import { z } from 'zod'
import { ConfigError, commaList, defineSettings } from '#server/kernel/settings'

const isServer = (url: string) => /^(stun|turns?):[\w.:[\]-]+(\?transport=(udp|tcp))?$/.test(url)
const servers = commaList.refine((all) => all.every(isServer), {
  error: 'must be servers separated by commas, such as stun:stun.example.com:3478',
})

export const meetingSettings = defineSettings(
  { ICE_SERVERS: servers, TURN_SECRET: z.string().min(16).optional() },
  ({ ICE_SERVERS: all, TURN_SECRET: secret }) => {
    const turn = all.filter((url) => url.startsWith('turn'))
    if (turn.length > 0 && secret === undefined)
      throw new ConfigError('ICE_SERVERS names a TURN server: set TURN_SECRET.')
    return { stun: all.filter((url) => !turn.includes(url)), turn, secret: secret ?? null }
  },
)
