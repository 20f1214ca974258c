import { describe, expect, test } from 'vitest'
import { readConfig, variableNames } from '#server/config'
import { ConfigError } from '#server/kernel/settings'

const nonsense = [' ', '\t ', 'one\r\ntwo', 'bell\u0007', 'no sense at all ☠', '-1', '0x123', 'http://', ':::', '/']
/** A path, a secret, or a text for people: whatever is written on one line is one. */
const anyText = new Set([
  ...['DATA_DIR', 'MEDIA_DIR', 'SMS_FROM', 'WEBAUTHN_RP_NAME', 'PARTNER_ISSUER', 'PARTNER_AUDIENCE'],
  ...['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY', 'PINNING_KEY', 'ONRAMP_KEY', 'ATTENDANCE_API_KEY', 'MODEL_API_KEY'],
  ...['LIVEPEER_API_KEY', 'LIVEPEER_WEBHOOK_SECRET', 'TURN_SECRET'],
])
/** A name or an id, in which there are no spaces. */
const anyWord = new Set([
  'WORLDID_APP_ID',
  'WORLDID_ACTION',
  'PARTNER_CHANNEL',
  'MODEL_CHOICES',
  'MODEL_NAME',
  'EMBEDDING_MODEL',
  'S3_REGION',
])
const words = new Set(['-1', '0x123', ':::', 'http://', '/'])
/** The name of a host or a bucket may look so. */
const anyName = new Set([
  'HOST',
  'OPS_HOST',
  'RTMP_HOST',
  'EGRESS_HOSTS',
  'PUSH_HOSTS',
  'SIWE_DOMAIN',
  'WEBAUTHN_RP_ID',
  'LIVEPEER_INGEST_HOST',
  'LIVEPEER_PLAYBACK_HOST',
  'S3_BUCKET_CHAT_IMAGES',
  'S3_BUCKET_CHAT_VOICE',
  'S3_BUCKET_MEDIA',
])

/** A text, which may have several lines. */
const anyLines = new Set(['WELCOME_MESSAGE'])

const makesSense = (name: string, value: string) => {
  if (anyLines.has(name)) return /\S/.test(value) && !value.includes('\u0007')
  if (/^\s*$|\p{Cc}/u.test(value)) return false
  return anyText.has(name) || (anyWord.has(name) && words.has(value)) || (anyName.has(name) && value === '0x123')
}

describe('N76: nonsense in a variable stops the start with a sentence that names it', () => {
  test.each([...variableNames, 'RPC_URL_1'])('%s', (name) => {
    for (const value of nonsense) {
      if (makesSense(name, value)) continue
      let said: unknown = null
      try {
        readConfig({ [name]: value })
      } catch (error) {
        said = error
      }
      expect(said, `${name}=${JSON.stringify(value)}`).toBeInstanceOf(ConfigError)
      expect((said as Error).message).toMatch(new RegExp(`^[^\\n]*${name}[^\\n]*\\.$`))
    }
  })

  test.each([
    ['ADMINS', '0x123'],
    ['ADMINS', ','],
    ['ALLOWED_ORIGINS', ' , '],
    ['MEDIA_ANNOUNCED_IPS', ','],
    ['RPC_URL_abc', 'https://rpc.example'],
    ['RPC_URL_0', 'https://rpc.example'],
    ['WORLDID_LEVEL', '-1'],
    ['WEBAUTHN_RP_ID', 'x'.repeat(200_000)],
    ['MAIL_FROM', 'https://u:p@h:99999/'],
    ['SMS_FROM', '\u202ePlaza'],
    ['ADMINS', `0x${'a'.repeat(40)},someone`],
    ['ALLOWED_ORIGINS', 'https://a.example/path'],
    ['ALLOWED_ORIGINS', 'https://a.example,b.example'],
    ['ALLOWED_ORIGINS', '*'],
    ['MAIL_FROM', 'Plaza <door@plaza.test>\r\nBcc: all@plaza.test'],
    ['MAIL_FROM', 'Plaza'],
    ['MAIL_URL', 'smtp://'],
    ['MAIL_URL', 'smtp://host:99999'],
    ['REDIS_URL', 'redis://:::'],
    ['REDIS_URL', 'redis://'],
    ['MONGODB_URI', 'mongodb://'],
    ['HOST', 'two words'],
    ['HOST', 'http://0.0.0.0'],
    ['EGRESS_HOSTS', 'https://a.example'],
    ['PUSH_HOSTS', 'https://a.example'],
    ['VAPID_SUBJECT', 'door@plaza.test'],
    ['VAPID_SUBJECT', 'http://plaza.test'],
    ['VAPID_PUBLIC_KEY', 'A'.repeat(43)],
    ['VAPID_PRIVATE_KEY', 'A'.repeat(87)],
    ['PINNING_GATEWAYS', 'ipfs'],
    ['SESSION_KEYS', `a:${Buffer.alloc(32).toString('base64')},a:${Buffer.alloc(32, 1).toString('base64')}`],
    ['SESSION_KEYS', `a:${'☠'.repeat(43)}`],
    ['SIWE_DOMAIN', 'https://a.example'],
    ['RTMP_URL', 'rtmp:///live'],
    ['PORT', ' '],
    ['HOST', '0'],
    ['HOST', '999.1.1.1'],
    ['HOST', 'a..b'],
    ['PUBLIC_URL', 'https:///plaza.test'],
    ['MODEL_BASE_URL', 'https://a.example,https://b.example'],
    ['MODEL_BASE_URL', 'https://a.example/v1#key'],
    ['MAIL_URL', 'smtp://user:secret@mail.example/#x'],
    ['REDIS_URL', 'redis://a.example/one'],
    ['REDIS_URL', 'redis://a.example/0/1'],
    ['S3_BUCKET_MEDIA', 'a..b'],
    ['WELCOME_MESSAGE', 'a'.repeat(1_001)],
    ['WELCOME_MESSAGE', '\u200b'],
    ['WELCOME_MESSAGE', 'a\u0007'],
  ])('%s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError)
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} is not usable: .+\\.$`))
  })

  test.each([
    ['ADMINS', `0x${'aB'.repeat(20)}, 7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV,bot:0192-a`],
    ['ALLOWED_ORIGINS', 'https://a.example, http://localhost:5173'],
    ['MAIL_FROM', 'door@plaza.test'],
    ['MAIL_FROM', 'Plaza, the server <door@plaza.test>'],
    ['REDIS_URL', 'rediss://user:pass%20word@redis.example:6380/2'],
    ['REDIS_URL', 'redis://[::1]:6379'],
    ['MONGODB_URI', 'mongodb://u:p@a:27017,b:27017/plaza?replicaSet=rs0'],
    ['MONGODB_URI', 'mongodb+srv://cluster.example/plaza'],
    ['HOST', '::1'],
    ['HOST', '1password.example'],
    ['PUBLIC_URL', 'https://Plaza.example/'],
    ['PUBLIC_URL', 'http://[::1]:3000'],
    ['RPC_URL_1', 'https://user:key@rpc.example/v2/key?network=1'],
    ['EGRESS_HOSTS', '*.example.com,10.0.0.1'],
    ['PUSH_HOSTS', 'push.example.com,*.push.example.org'],
    ['VAPID_SUBJECT', 'mailto:door@plaza.test'],
    ['VAPID_SUBJECT', 'https://plaza.test/contact'],
    ['PARTNER_JWKS_URL', ''],
    ['MAIL_URL', 'smtps://user:secret@mail.example'],
    ['SIWE_DOMAIN', 'localhost:3000'],
    ['MODEL_NAME', 'org/model-4.1:free@2026'],
    ['WELCOME_MESSAGE', 'off'],
    ['WELCOME_MESSAGE', `Welcome!\n\n${'a'.repeat(990)}`],
  ])('%s=%s is taken', (name, value) => {
    expect(() => readConfig({ [name]: value })).not.toThrow()
  })
})
