import type { Config } from '#server/config'
import type { Services } from '#server/kernel/context'
import { httpAttendance } from '#server/ports/attendance/http'
import { demoAttendance } from '#server/ports/attendance/scripted'
import { openChains as chainsAt } from '#server/ports/chain/viem'
import { httpFacilitator } from '#server/ports/facilitator/http'
import { localFacilitator } from '#server/ports/facilitator/local'
import { httpOnramp } from '#server/ports/onramp/http'
import { fixedPrices } from '#server/ports/prices/fixed'
import { httpPrices } from '#server/ports/prices/http'
import type { PartsOf } from './part.ts'

type OnChains = 'chains' | 'onramp' | 'prices' | 'facilitator' | 'attendance'

export const openChains = (config: Config): Pick<Services, OnChains> => ({
  chains: chainsAt(config.rpcUrls),
  onramp: config.onramp && httpOnramp(config.onramp.url, config.onramp.key),
  prices: openPrices(config),
  facilitator: openFacilitator(config),
  attendance: openAttendance(config),
})

const fixed = 'fixed'

function openPrices({ pricesUrl: url }: Config) {
  if (url === undefined) return null
  return url === fixed ? fixedPrices : httpPrices(url)
}

const simulated = 'simulated'

function openFacilitator({ facilitator: { url, version } }: Config) {
  if (url === undefined) return null
  return url === simulated ? localFacilitator : httpFacilitator(url, version)
}

function openAttendance({ attendance }: Config) {
  if (attendance === null) return null
  return attendance === 'scripted' ? demoAttendance() : httpAttendance(attendance)
}

export const chainsParts: PartsOf<OnChains> = {
  chains: ({ rpcUrls }) =>
    rpcUrls.size === 0
      ? { part: 'chains', adapter: 'none', why: 'no RPC_URL_<chainId> is set: what needs one answers 503' }
      : { part: 'chains', adapter: [...rpcUrls.keys()].join(', '), why: 'RPC_URL_<chainId> is set' },
  onramp: ({ onramp }) =>
    onramp
      ? { part: 'onramp', adapter: new URL(onramp.url).host, why: 'ONRAMP_URL is set' }
      : { part: 'onramp', adapter: 'none', why: 'ONRAMP_URL is not set: what needs it answers 503' },
  prices({ pricesUrl: url }) {
    const part = 'prices'
    if (url === undefined) return { part, adapter: 'none', why: 'PRICES_URL is not set: /api/prices answers 503' }
    return url === fixed
      ? { part, adapter: fixed, why: 'those of no market; PRICES_URL asks a source' }
      : { part, adapter: new URL(url).host, why: 'PRICES_URL is set' }
  },
  facilitator({ facilitator: { url, version } }) {
    const part = 'payments'
    if (url === undefined)
      return { part, adapter: 'none', why: 'X402_FACILITATOR_URL is not set: paid chat answers 503' }
    if (url === simulated)
      return {
        part,
        adapter: simulated,
        why: 'checked, settled nowhere, on test networks; X402_FACILITATOR_URL settles',
      }
    return { part, adapter: new URL(url).host, why: `X402_FACILITATOR_URL is set, version ${version}` }
  },
  attendance({ attendance }) {
    const part = 'attendance'
    if (attendance === null) return { part, adapter: 'none', why: 'ATTENDANCE_API_KEY is not set: nobody holds tokens' }
    return attendance === 'scripted'
      ? { part, adapter: attendance, why: 'three events of the demo; ATTENDANCE_API_KEY asks a provider' }
      : { part, adapter: new URL(attendance.baseUrl).host, why: 'ATTENDANCE_API_KEY is set' }
  },
}
