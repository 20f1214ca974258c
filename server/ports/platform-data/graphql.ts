import { postJson } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import type { PlatformData } from './port.ts'

export const graphqlData = (url: string): PlatformData => ({
  async query(document, variables, signal) {
    const { status, answer } = await postJson(url, { query: document, variables }, {}, signal)
    if (typeof answer !== 'object' || answer === null || !('data' in answer || 'errors' in answer))
      throw new AppError('UPSTREAM_ERROR', { cause: new Error(`The data of the platform answered ${status}`) })
    return JSON.stringify(answer)
  },
})
