import { describe, expect, test } from 'vitest'
import { boot } from '#test/support/boot'

describe('M18: pictures, sound and connections are of the own host and of the configured storage', () => {
  const policyOf = async (environment: Record<string, string>) => {
    const server = await boot({ nodes: 1, environment: { MONGODB_URI: '', REDIS_URL: '', ...environment } })
    const answers = await Promise.all(['/', '/docs', '/api/status'].map((path) => fetch(`${server.url}${path}`)))
    await server.close()
    const policies = new Set(answers.map(({ headers }) => headers.get('content-security-policy') ?? ''))
    expect(policies.size).toBe(1)
    const directives = [...policies].flatMap((policy) => policy.split(';'))
    return Object.fromEntries(directives.map((directive) => directive.split(/ (.*)/, 2) as [string, string]))
  }
  const site = 'https://plaza.test'

  test.each([
    [{ PUBLIC_URL: site }, `${site}/media/`, 'wss://plaza.test'],
    [{ PUBLIC_URL: `${site}:8443/below` }, `${site}:8443/media/`, 'wss://plaza.test:8443'],
    [{ PUBLIC_URL: 'http://plaza.test' }, 'http://plaza.test/media/', 'ws://plaza.test'],
    [{ PUBLIC_URL: site, STORAGE_URL: 'https://cdn.test' }, 'https://cdn.test/', 'wss://plaza.test'],
    [
      { PUBLIC_URL: site, STORAGE_URL: 'https://s3.test/our-bucket' },
      'https://s3.test/our-bucket/',
      'wss://plaza.test',
    ],
    [{ PUBLIC_URL: site, STORAGE_URL: 'https://u:p@s3.test/b/?a=1#b' }, 'https://s3.test/b/', 'wss://plaza.test'],
    [
      { PUBLIC_URL: site, STORAGE_URL: "https://s3.test/a;script-src *,'b'" },
      'https://s3.test/a%3Bscript-src%20*%2C%27b%27/',
      'wss://plaza.test',
    ],
    [{ PUBLIC_URL: site, ALLOWED_ORIGINS: 'https://app.test' }, `${site}/media/`, 'wss://plaza.test'],
  ])('M18: %o', async (environment, storage, socket) => {
    const policy = await policyOf(environment)
    expect(policy).toMatchObject({
      'default-src': "'self'",
      'script-src': "'self'",
      'img-src': `'self' data: ${storage}`,
      'media-src': `'self' ${storage}`,
      'connect-src': `'self' ${socket}`,
    })
    expect(Object.values(policy).filter((sources) => /(^| )(\*|https?:|wss?:)( |$)/.test(sources))).toEqual([])
  })
})
