import type { Client } from '#client/sdk/types'

export type PublicAgent = Awaited<ReturnType<Client['payments']['agent']>>
export type Pricing = Awaited<ReturnType<Client['payments']['info']>>['pricing']
