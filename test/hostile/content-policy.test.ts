// Modes: embedded
import { describe, expect, test } from 'vitest'
import { boot } from '#test/support/boot'

describe('M18: pictures, sound and connections are of the own host and of the configured storage', () => {
  const policyOf = async (environment: Record<string, string>) => {
    const server = await boot({ nodes: 1, environment: { MONGODB_URI: '', REDIS_URL: '', ...environment } })
    const answers = await Promise.all(['/', '/docs'].map((path) => fetch(`${server.url}${path}`)))
    await server.close()
    const policies = new Set(answers.map(({ headers }) => headers.get('content-security-policy') ?? ''))
    expect(policies.size).toBe(1)
    const directives = [...policies].flatMap((policy) => policy.split(';'))
    return Object.fromEntries(directives.map((directive) => directive.split(/ (.*)/, 2) as [string, string]))
  }
  const site = 'https://plaza.test'

  test.each([
    [{ PUBLIC_URL: site }, `${site}/files/`, 'wss://plaza.test'],
    [{ PUBLIC_URL: `${site}:8443/below` }, `${site}:8443/files/`, 'wss://plaza.test:8443'],
    [{ PUBLIC_URL: 'http://plaza.test' }, 'http://plaza.test/files/', 'ws://plaza.test'],
    [{ PUBLIC_URL: site, STORAGE_URL: 'https://cdn.test' }, 'https://cdn.test/', 'wss://plaza.test'],
    [
      { PUBLIC_URL: site, STORAGE_URL: 'https://s3.test/our-bucket' },
      'https://s3.test/our-bucket/',
      'wss://plaza.test',
    ],
    [{ PUBLIC_URL: site, STORAGE_URL: 'https://u:p@s3.test/b/?a=1' }, 'https://s3.test/b/', 'wss://plaza.test'],
    [
      { PUBLIC_URL: site, STORAGE_URL: "https://s3.test/a;script-src *,'b'" },
      'https://s3.test/a%3Bscript-src%20*%2C%27b%27/',
      'wss://plaza.test',
    ],
    [{ PUBLIC_URL: site, ALLOWED_ORIGINS: 'https://app.test' }, `${site}/files/`, 'wss://plaza.test'],
  ])('M18: %o', async (environment, storage, socket) => {
    const policy = await policyOf(environment)
    expect(policy).toMatchObject({
      'default-src': "'self'",
      'script-src': "'self'",
      'img-src': `'self' data: blob: ${storage}`,
      'media-src': `'self' blob: ${storage}`,
      'connect-src': `'self' ${socket} ${storage}`,
    })
    expect(Object.values(policy).filter((sources) => /(^| )(\*|https?:|wss?:)( |$)/.test(sources))).toEqual([])
  })

  test('M18: and of where livestreams are published and shown, where that is elsewhere', async () => {
    const policy = await policyOf({
      PUBLIC_URL: site,
      VIDEO_PROVIDER: 'mediamtx',
      MEDIAMTX_API_URL: 'http://127.0.0.1:9',
      MEDIAMTX_WEBRTC_URL: 'https://media.test/webrtc',
      MEDIAMTX_HLS_URL: 'https://media.test/hls',
    })
    const shown = 'https://media.test http://plaza.test:9996'
    expect(policy).toMatchObject({
      'default-src': "'self'",
      'img-src': `'self' data: blob: ${site}/files/`,
      'media-src': `'self' blob: ${site}/files/ ${shown}`,
      'connect-src': `'self' wss://plaza.test ${site}/files/ ${shown}`,
    })
  })

  test('M18: and of Livepeer, where that shows them', async () => {
    const policy = await policyOf({ PUBLIC_URL: site, LIVEPEER_API_KEY: 'key', VIDEO_PROVIDER: 'livepeer' })
    const shown = 'https://livepeer.studio https://livepeercdn.studio'
    expect(policy).toMatchObject({
      'media-src': `'self' blob: ${site}/files/ ${shown}`,
      'connect-src': `'self' wss://plaza.test ${site}/files/ ${shown}`,
    })
  })
})
