import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { openEmbedded } from '#server/ports/database/embedded'
import { openFacilitator } from '#test/support/providers'
import { findMongo, freePort, type MongoProgram } from '../../scripts/test-servers.mjs'
import { directoryOfRun, smallDisk } from './disk.ts'
import { Letters } from './letters.ts'
import { Link } from './link.ts'
import { openServices, type Services } from './media.ts'
import { Process } from './processes.ts'
import type { Documents } from './stored.ts'

const doorNames = ['senders', 'readers', 'moderators', 'corrupted'] as const
export type DoorName = (typeof doorNames)[number]

export interface PlazaNode {
  process: Process
  opsPort: number
  /** The direct address, without the link. */
  url: string
  doors: Record<DoorName, Link>
}

export interface Part {
  process: Process
  link: Link
}

/** Real processes behind links that can fail: nodes and, if there are several, a MongoDB and a Redis. */
export interface Cluster {
  nodes: readonly PlazaNode[]
  store: Part | null
  redis: Part | null
  letters: Letters | null
  /** Charges each authorization once, as a chain does. */
  facilitator: Awaited<ReturnType<typeof openFacilitator>>
  /** Those of media and of attendance; null for the one node, which keeps media in a folder. */
  services: Services | null
  /** The database of the nodes, reached without the link; null on the embedded store. */
  storeUri: string | null
  /** The server's one file. */
  server: string
  /** The stored logs, read without the nodes; on the embedded store only after its node has ended. */
  openStore(): Promise<{ documents: Documents; close(): Promise<void> }>
  storeName: string
  directory: string
  /** The directory on a disk that can be filled; null if this user may not mount one. */
  disk: string | null
  /** All processes that were started. */
  processes: readonly Process[]
  links: readonly Link[]
  close(): Promise<void>
}

const database = 'plaza_faults'
const redisMegabytes = 16
const embeddedMegabytes = 96

/** The environment of a node, as an operator would set it. */
export const nodeEnvironment = {
  NODE_ENV: 'test',
  DEMO: 'off',
  OFFICIAL_CHANNELS: 'off',
  WELCOME_MESSAGE: 'off',
  BETA: 'open',
  LOG_LEVEL: 'error',
  RATE_LIMIT_SCALE: '10000',
  SESSION_KEYS: `faults:${Buffer.alloc(32, 7).toString('base64')}`,
  PUBLIC_URL: 'http://localhost:3000',
}

/** Two nodes on a MongoDB and a Redis, started at once on an empty database. */
export async function openPair(server: string): Promise<Cluster> {
  const directory = directoryOfRun()
  const program = findMongo()
  const store = await startStore(program, directory)
  const disk = smallDisk(redisMegabytes)
  const redis = await startRedis(disk ?? directory)
  const storeUri = `mongodb://127.0.0.1:${store.process.port}/${database}?directConnection=true`
  const letters = await Letters.open()
  const facilitator = await openFacilitator()
  const services = await openServices(directory)
  const environment = {
    ...nodeEnvironment,
    ...services.environment,
    DATA_DIR: directory,
    MAIL_URL: letters.url,
    X402_FACILITATOR_URL: facilitator.url,
    MONGODB_URI: `mongodb://127.0.0.1:${store.link.port}/${database}?directConnection=true`,
    REDIS_URL: `redis://127.0.0.1:${redis.link.port}`,
  }
  const nodes = await Promise.all(['A', 'B'].map((name) => newNode(`node ${name}`, server, environment)))
  await Promise.all(nodes.map(({ process: node }) => node.start()))
  const openStore = () => openMongo(storeUri)
  return clusterOf({
    server,
    nodes,
    store,
    redis,
    letters,
    facilitator,
    services,
    storeUri,
    openStore,
    storeName: program.name,
    directory,
    disk,
  })
}

/** One node on the embedded store. */
export async function openAlone(server: string): Promise<Cluster> {
  const disk = smallDisk(embeddedMegabytes)
  const directory = directoryOfRun()
  const data = join(disk ?? directory, 'data')
  const facilitator = await openFacilitator()
  const environment = { ...nodeEnvironment, DATA_DIR: data, X402_FACILITATOR_URL: facilitator.url }
  const node = await newNode('node', server, environment)
  await node.process.start()
  return clusterOf({
    server,
    nodes: [node],
    store: null,
    redis: null,
    letters: null,
    facilitator,
    services: null,
    storeUri: null,
    openStore: () => openLmdb(data),
    storeName: 'the embedded store',
    directory,
    disk,
  })
}

async function openMongo(uri: string) {
  const client = new mongoose.mongo.MongoClient(uri, { serverSelectionTimeoutMS: 10_000 })
  await client.connect()
  return { documents: client.db() as Documents, close: () => client.close() }
}

async function openLmdb(directory: string) {
  const store = await openEmbedded(directory, { sweeps: false })
  return { documents: store.db() as unknown as Documents, close: () => store.close() }
}

function clusterOf(parts: Omit<Cluster, 'processes' | 'links' | 'close'>): Cluster {
  const { nodes, store, redis, letters, facilitator, services } = parts
  const sides = [store, redis].filter((part) => part !== null)
  const processes = [...[...nodes, ...sides].map((part) => part.process), ...(services ? [services.s3] : [])]
  const links = [...sides.map(({ link }) => link), ...nodes.flatMap(({ doors }) => Object.values(doors))]
  return {
    ...parts,
    processes,
    links,
    async close() {
      for (const link of links) link.close()
      for (const part of processes) await part.kill()
      await letters?.close()
      await facilitator.close()
      await services?.close()
    },
  }
}

export async function newNode(name: string, server: string, environment: Record<string, string>): Promise<PlazaNode> {
  const [port, opsPort] = [await freePort(), await freePort()]
  const env = { ...environment, PORT: `${port}`, OPS_PORT: `${opsPort}` }
  const links = await Promise.all(doorNames.map(async (door) => [door, await new Link(port).open()] as const))
  return {
    process: new Process(name, port, { file: process.execPath, args: [server], env }),
    opsPort,
    url: `http://127.0.0.1:${port}`,
    doors: Object.fromEntries(links) as Record<DoorName, Link>,
  }
}

async function startStore(program: MongoProgram, directory: string): Promise<Part> {
  const port = await freePort()
  const home = folder(directory, 'store')
  const store = new Process('store', port, { file: program.binary, args: program.options(home, port) })
  await store.start()
  await program.prepare(port)
  return { process: store, link: await new Link(port).open() }
}

async function startRedis(directory: string): Promise<Part> {
  const port = await freePort()
  const home = folder(directory, 'redis')
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', home, '--save', '', '--appendonly', 'yes']
  const redis = new Process('redis', port, { file: 'redis-server', args: [...args, '--appendfsync', 'everysec'] })
  await redis.start()
  return { process: redis, link: await new Link(port).open() }
}

function folder(directory: string, name: string): string {
  const path = join(directory, name)
  mkdirSync(path)
  return path
}
