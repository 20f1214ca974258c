import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { readProxies } from '#server/kernel/addresses'
import { sourcesOf, textOf } from './sources.ts'

const names = z.record(z.string(), z.string())
const readManifest = (path: string) =>
  z.object({ dependencies: names.default({}), peerDependencies: names.default({}) }).parse(JSON.parse(textOf(path)))

describe('M20: what is installed to run', () => {
  const declared = Object.keys(readManifest('package.json').dependencies).sort()
  const packages = (imports: readonly string[]) =>
    imports
      .filter((name) => /^@?[a-z]/.test(name) && !/\.tsx?$|^node:/.test(name))
      .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
  const running = sourcesOf('server', 'shared', 'client/sdk')
  const imported = running.flatMap(({ imports }) => packages(imports))
  const served = running.flatMap(({ code }) => [...code.matchAll(/packaged\('([^']+)'/g)].map(([, name = '']) => name))
  const used = new Set([...imported, ...served])

  test('is all that the server, the contract and the SDK use', () => {
    expect(served).not.toEqual([])
    expect([...used].filter((name) => !declared.includes(name))).toEqual([])
  })

  test('is used by them, or wanted beside it by what is used', () => {
    const peers = [...used].flatMap((name) => Object.keys(peersOf(name)))
    expect(declared.filter((name) => !used.has(name) && !peers.includes(name))).toEqual([])
  })

  test('is no build tool', () => {
    expect(declared.filter((name) => /^(vite|rolldown|rollup|esbuild|tsx|typescript)$|plugin/.test(name))).toEqual([])
  })

  const peersOf = (name: string) => readManifest(`node_modules/${name}/package.json`).peerDependencies
})

const exactTag = /^([a-z]+\/)?[a-z]+:\d+\.\d+\.\d+(-[a-z-]+)?$/

describe('M20: the image', () => {
  const stages = textOf('Dockerfile')
    .split(/^(?=FROM )/m)
    .slice(1)
  const last = stages.at(-1) ?? ''

  test('stands on exact versions', () => {
    const bases = stages.map((stage) => /^FROM (\S+)/.exec(stage)?.[1])
    expect(bases.filter((base) => !exactTag.test(base ?? ''))).toEqual([])
  })

  test('is built by one stage and installed without tools by another', () => {
    expect(stages.filter((stage) => /npm ci --omit=dev/.test(stage))).toHaveLength(1)
    expect(last).not.toMatch(/^(RUN .*npm|COPY \. )/m)
    expect(last).toMatch(/^COPY --from=build \/app\/dist /m)
    expect(last).toMatch(/^USER node$/m)
  })

  test('starts as `npm start` does, under whose options the build compiles the server', () => {
    const { scripts } = z.object({ scripts: names }).parse(JSON.parse(textOf('package.json')))
    const [, command = '[]'] = /^CMD (\[.*\])$/m.exec(last) ?? []
    expect(JSON.parse(command)).toEqual(scripts.start?.replace(/^exec /, '').split(' '))
  })

  test('holds no secret', () => {
    expect(textOf('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['secrets', '.env', 'data']))
    expect(textOf('.gitignore').split('\n')).toContain('secrets/')
  })
})

const Service = z.object({
  image: z.string().optional(),
  build: z.string().optional(),
  profiles: z.array(z.string()).default([]),
  command: z.array(z.string()).default([]),
  environment: names.default({}),
  ports: z.array(z.string()).default([]),
  networks: z.union([z.array(z.string()), z.record(z.string(), z.object({ ipv4_address: z.string() }))]),
  secrets: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  cap_add: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  tmpfs: z.array(z.string()).default([]),
})
const Compose = z.object({
  services: z.record(z.string(), Service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
  networks: z.record(z.string(), z.object({ internal: z.boolean().default(false) })),
})

describe('M20: docker-compose.yml', () => {
  const text = textOf('docker-compose.yml')
  const { services, secrets, networks } = Compose.parse(parse(text, { merge: true }))
  const { plaza, caddy, mongodb, redis, mediamtx } = services
  const networksOf = (service: z.output<typeof Service> | undefined) =>
    Array.isArray(service?.networks) ? service.networks : Object.keys(service?.networks ?? {})

  test.each(Object.entries(services))('%s may do no more than it must', (_name, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    expect(service.tmpfs).toContain('/tmp')
    expect(service.cap_add).toEqual(service === caddy ? ['NET_BIND_SERVICE'] : [])
    expect(service.image ?? 'built:0.0.0').toMatch(exactTag)
  })

  test('listens on loopback, but for the proxy, and ports of media, that somebody asks for', () => {
    const loopback = /^(127\.0\.0\.1|\$\{MEDIA_BIND:-127\.0\.0\.1\}):/
    const open = Object.entries(services).filter(([, { ports }]) => ports.some((port) => !loopback.test(port)))
    expect(open.map(([name]) => name)).toEqual(['caddy'])
    expect(caddy?.profiles).toEqual(['tls'])
    expect([mongodb, redis].map(networksOf)).toEqual([['back'], ['back']])
    expect(networks.back?.internal).toBe(true)
  })

  test('keeps what controls livestreams to itself', () => {
    expect(mediamtx?.profiles).toEqual(['mediamtx'])
    expect(mediamtx?.ports.filter((port) => /:9997$/.test(port))).toEqual([])
    expect(plaza?.environment.MEDIAMTX_API_URL).toBe('http://mediamtx:9997')
    expect(mediamtx?.volumes).toContain('./deploy/mediamtx.yml:/mediamtx.yml:ro')
  })

  test('trusts the proxy that ends TLS, and nobody else', () => {
    const trusted = plaza?.environment.TRUSTED_PROXIES ?? ''
    expect(caddy?.networks).toEqual({ front: { ipv4_address: trusted } })
    expect(readProxies([trusted])).not.toBeNull()
    expect(textOf('deploy/Caddyfile')).toMatch(/^\{\$PUBLIC_URL\} \{\s+reverse_proxy plaza:3000$/m)
    expect(textOf('deploy/Caddyfile')).not.toMatch(/trusted_proxies|tls internal/)
  })

  test('gives secrets as files that deploy/secrets.sh makes', () => {
    const made = [...textOf('deploy/secrets.sh').matchAll(/ > ([a-z-]+)$|^: > ([a-z-]+)$/gm)].map(([, a, b]) => a ?? b)
    expect(made.sort()).toEqual(Object.keys(secrets).sort())
    expect(Object.entries(secrets).filter(([name, { file }]) => file !== `./secrets/${name}`)).toEqual([])
    const mounted = new Set(Object.values(services).flatMap((service) => service.secrets))
    expect([...mounted].sort()).toEqual(Object.keys(secrets).sort())
    for (const { environment, secrets: own } of Object.values(services))
      for (const [name, value] of Object.entries(environment)) {
        if (/KEY|URI|REDIS_URL|MAIL_URL|PASSWORD/.test(name)) expect(name).toMatch(/_FILE$/)
        if (name.endsWith('_FILE')) expect(own.map((secret) => `/run/secrets/${secret}`)).toContain(value)
      }
    expect(text).not.toMatch(/:\/\/[^\s/]*:[^\s/]*@/)
  })

  test('has no database without a password', () => {
    expect(mongodb?.command).toContain('--keyFile')
    expect(mongodb?.environment.MONGO_INITDB_ROOT_PASSWORD_FILE).toBeDefined()
    expect(redis?.command).toEqual(['redis-server', '/run/secrets/redis-conf'])
    expect(textOf('deploy/secrets.sh')).toMatch(/requirepass %s/)
  })
})

test('the image starts the server with the options of npm start', () => {
  const { scripts } = z.object({ scripts: z.object({ start: z.string() }) }).parse(JSON.parse(textOf('package.json')))
  const [, command = ''] = /^CMD (\[.*\])$/m.exec(textOf('Dockerfile')) ?? []
  expect(z.array(z.string()).parse(JSON.parse(command)).join(' ')).toBe(scripts.start.replace('exec ', ''))
})
