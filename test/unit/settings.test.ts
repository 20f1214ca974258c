import { describe, expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { roleSettings } from '#server/domains/people/accounts/settings'
import { federationSettings } from '#server/domains/people/federation/settings'
import { siweSettings } from '#server/domains/people/identity/settings'
import { passkeySettings } from '#server/domains/people/passkeys/settings'
import { roomSettings } from '#server/domains/rooms/rooms/settings'
import { ConfigError, defineSettings } from '#server/kernel/settings'

const SESSION_KEYS = `test:${Buffer.alloc(32).toString('base64')}`
const nodeWith = (environment: Record<string, string>) => ({ settings: readConfig({ SESSION_KEYS, ...environment }) })
const wallet = `0x${'Ab'.repeat(20)}`

describe('settings of a domain', () => {
  test('have defaults that follow from the installation', () => {
    const node = nodeWith({ NODE_ENV: 'production', PUBLIC_URL: 'https://chat.example:8443/somewhere' })
    expect(passkeySettings.of(node)).toEqual({
      rpId: 'chat.example',
      rpName: 'Plaza',
      origins: ['https://chat.example:8443'],
    })
    expect(siweSettings.of(node)).toMatchObject({
      domain: 'chat.example:8443',
      uri: 'https://chat.example:8443',
      defaultChainId: 1,
    })
    expect(federationSettings.of(node)).toEqual({ action: null })
    expect(roleSettings.of(node)).toEqual({ admins: [], superAdmins: [] })
  })

  test('outside production let the origins of this machine use passkeys', () => {
    expect(passkeySettings.of(nodeWith({ PORT: '4000' })).origins).toEqual([
      'http://localhost:4000',
      'http://localhost:4000',
      'http://127.0.0.1:4000',
    ])
  })

  test('are what the variables say', () => {
    const node = nodeWith({
      WEBAUTHN_RP_NAME: 'Ours',
      WEBAUTHN_ORIGINS: 'https://a.example, https://b.example',
      SIWE_CHAIN_IDS: '10,137',
      SIWE_DEFAULT_CHAIN_ID: '137',
      WORLDID_ACTION: 'enter',
      PARTNER_CHANNEL: 'friends-of-ours',
      ADMINS: ` ${wallet},`,
      SUPER_ADMINS: '',
    })
    expect(passkeySettings.of(node)).toMatchObject({
      rpName: 'Ours',
      origins: ['https://a.example', 'https://b.example'],
    })
    expect(siweSettings.of(node)).toMatchObject({ chainIds: [10, 137], defaultChainId: 137 })
    expect(federationSettings.of(node)).toEqual({ action: 'enter' })
    expect(roomSettings.of(node)).toMatchObject({ partnerChannel: 'friends-of-ours' })
    expect(roleSettings.of(node)).toEqual({ admins: [wallet.toLowerCase()], superAdmins: [] })
  })

  test.each([
    ['WEBAUTHN_RP_ID', 'https://a.example', 'must be a host name in lower case, without scheme and port'],
    ['WEBAUTHN_ORIGINS', 'a.example', 'must be origins separated by commas, such as https://example.com'],
    ['SIWE_CHAIN_IDS', '1,one', 'must be numbers separated by commas'],
    ['SIWE_URI', 'ftp://a.example', 'must be a URL that starts with http:// or https://'],
  ])('stop the start where %s is %s, with a sentence', (name, value, why) => {
    const start = () => nodeWith({ [name]: value })
    expect(start).toThrow(ConfigError)
    expect(start).toThrow(`${name} is not usable: ${why}.`)
  })

  test('stop the start where they contradict each other', () => {
    const start = () => nodeWith({ SIWE_CHAIN_IDS: '10' })
    expect(start).toThrow(ConfigError)
    expect(start).toThrow('SIWE_DEFAULT_CHAIN_ID must be among SIWE_CHAIN_IDS.')
  })

  test('that no domain lists are not there', () => {
    expect(() => defineSettings({}, () => ({})).of(nodeWith({}))).toThrow('No domain has the settings')
  })
})
