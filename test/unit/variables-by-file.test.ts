import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { readStore } from '#server/environment'
import { heavy } from '#test/support/heavy'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plaza-variables-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (text: string) => {
  const path = join(folder, `value-${Math.random()}`)
  writeFileSync(path, text)
  return path
}
const keys = `1:${Buffer.alloc(32, 1).toString('base64')}`

describe('M20: variables by file', () => {
  test('M20: any variable may be given as a file', () => {
    const config = readConfig({
      NODE_ENV: 'production',
      SESSION_KEYS_FILE: file(`${keys}\n`),
      MONGODB_URI_FILE: file('mongodb://plaza:secret@mongodb:27017/plaza\n'),
      REDIS_URL_FILE: file(' redis://:secret@redis:6379\r\n'),
      MAIL_URL_FILE: file('smtps://user:secret@mail.test:465'),
      RPC_URL_1_FILE: file('https://rpc.test/secret'),
      PORT_FILE: file('4321'),
    })
    expect(config.sessionKeys).toHaveLength(1)
    expect(config.mongodbUri).toBe('mongodb://plaza:secret@mongodb:27017/plaza')
    expect(config.redisUrl).toBe('redis://:secret@redis:6379')
    expect(config.mail.url).toBe('smtps://user:secret@mail.test:465')
    expect(config.rpcUrls.get(1)).toBe('https://rpc.test/secret')
    expect(config.port).toBe(4321)
  })

  test('M20: tools read the store from a file, and no file of anything else', () => {
    const uri = 'mongodb://mongodb:27017/plaza'
    expect(readStore({ MONGODB_URI_FILE: file(uri), MAIL_URL_FILE: '/nowhere' }).mongodbUri).toBe(uri)
  })

  test('M20: an empty file counts as absent', () => {
    expect(
      readConfig({ NODE_ENV: 'production', SESSION_KEYS: keys, MAIL_URL_FILE: file('\n') }).mail.url,
    ).toBeUndefined()
  })

  test.each([
    [{ REDIS_URL: 'redis://a', REDIS_URL_FILE: () => file('redis://b') }, /REDIS_URL and REDIS_URL_FILE are both set/],
    [{ REDIS_URL: 'redis://a', REDIS_URL_FILE: () => file('') }, /REDIS_URL and REDIS_URL_FILE are both set/],
    [{ REDIS_URL_FILE: () => join(folder, 'missing') }, /REDIS_URL_FILE is not usable: .*ENOENT/],
    [{ REDIS_URL_FILE: () => folder }, /REDIS_URL_FILE is not usable: .*EISDIR/],
    [{ REDIS_URL_FILE: () => file('http://secret') }, /^REDIS_URL is not usable: must start with redis/],
  ])('M20: %o stops the start with a sentence that keeps the value to itself', (given, sentence) => {
    const environment = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, typeof value === 'string' ? value : value()]),
    )
    expect(() => readConfig(environment)).toThrow(sentence)
    expect(() => readConfig(environment)).not.toThrow(/secret/)
  })

  test('M20: what is named like a file of no variable is left alone', () => {
    expect(() => readConfig({ SSL_CERT_FILE: '/nowhere', toString_FILE: '/nowhere' })).not.toThrow()
  })

  test.skipIf(process.platform === 'win32')(
    'M20: deploy/secrets.sh makes values that the start takes, once',
    heavy,
    () => {
      const secrets = join(folder, 'secrets')
      const script = fileURLToPath(new URL('../../deploy/secrets.sh', import.meta.url))
      const make = () => execFileSync('sh', [script, secrets], { stdio: 'pipe' })
      make()
      const at = (name: string) => join(secrets, name)
      const config = readConfig({
        NODE_ENV: 'production',
        SESSION_KEYS_FILE: at('session-keys'),
        MONGODB_URI_FILE: at('mongodb-uri'),
        REDIS_URL_FILE: at('redis-url'),
        MAIL_URL_FILE: at('mail-url'),
      })
      expect(config.mail.url).toBeUndefined()
      expect(config.mongodbUri).toContain(readFileSync(at('mongodb-password'), 'utf8').trim())
      const { password } = new URL(config.redisUrl ?? '')
      expect(password.length).toBe(64)
      expect(readFileSync(at('redis-conf'), 'utf8')).toContain(`requirepass ${password}\n`)
      expect(statSync(secrets).mode & 0o777).toBe(0o700)
      expect(make).toThrow()
    },
  )
})
