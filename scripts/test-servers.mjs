import { execFileSync, spawn } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { freemem, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Later versions of the package have no binary, only a slow server in Python. */
const SECANTUS = '0.6.0b17'
/** A local chain: one binary a platform. Its wrapper cannot be locked where the registry lacks one of them. */
const ANVIL = '1.7.1'
const ANVIL_PACKAGE = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
/** The newest Node and the oldest that the server runs on: servers of both may meet on one database. */
const NODES = { 24: '24.21.0', 20: '20.20.2' }
const RUNNING_NODE = Number(process.versions.node.split('.', 1))
const NODE_PACKAGE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const CACHE = join(fileURLToPath(new URL('..', import.meta.url)), '.cache')
/** Exact versions of the generator of clients for Python, and of all that it needs. */
const PYTHON_CLIENT = fileURLToPath(new URL('python-client.txt', import.meta.url))
const MEMORY = '/dev/shm'
const START_MILLISECONDS = 30_000

const CHROMIUMS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const CHROMIUM_APPS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/**
 * The folder for the stores of a run: in memory if twice the space is free. Data of killed processes stays there, and no test
 * waits for a busy disk.
 */
export function placeFor(bytes) {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return Math.min(bavail * bsize, freemem() / 2) > bytes ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

/**
 * A MongoDB to test against, or why there is none: `{ uri, name, stop }` or `{ missing }`. Where it is ours to stop,
 * `died` tells how it ended if nobody stopped it.
 */
export async function startMongo() {
  const given = process.env.MONGODB_URI
  if (given) return { uri: given, name: 'MONGODB_URI', stop: () => dropTestDatabases(given) }
  try {
    const mongod = process.env.MONGOD_BINARY || onPath('mongod')
    if (mongod) return await startMongod(mongod)
    return await startSecantus(onPath('secantusd-rs') ?? provisionSecantus())
  } catch (error) {
    return { missing: error.message }
  }
}

/** Starts a Redis for tests, or returns why there is none. A port makes it a separate one, on a free port for 0, for signals. */
export async function startRedis(port) {
  const given = process.env.REDIS_URL
  if (given && port === undefined) return { url: given, name: 'REDIS_URL', signal: () => {}, stop: async () => {} }
  const binary = onPath('redis-server')
  if (!binary) return { missing: 'no redis-server here' }
  const chosen = port || (await freePort())
  const options = ['--port', `${chosen}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  try {
    const { died, stop, signal } = await startServer(binary, () => options, /Ready to accept connections/)
    return { url: `redis://127.0.0.1:${chosen}`, name: binary, died, signal, stop }
  } catch (error) {
    return { missing: error.message }
  }
}

/** The binary of a local chain, where there is one. */
export function findAnvil() {
  const cached = binaryOf(ANVIL_PACKAGE, ANVIL, 'anvil')
  return process.env.ANVIL_BINARY || (isExecutable(cached) ? cached : onPath('anvil'))
}

/** Sees to it that there is a local chain: `{ name }`, or why there is none: `{ missing }`. */
export const provisionAnvil = () => provision(findAnvil, ANVIL_PACKAGE, ANVIL)

/** The binary of Node of this major version, where there is one. */
export function findNode(major) {
  if (major === RUNNING_NODE) return process.execPath
  const cached = binaryOf(NODE_PACKAGE, NODES[major], 'node')
  return isExecutable(cached) ? cached : undefined
}

/** Sees to it that there is one: `{ name }`, or why there is none: `{ missing }`. */
export const provisionNode = (major) => provision(() => findNode(major), NODE_PACKAGE, NODES[major])

/** Another Node than this one. */
const other = RUNNING_NODE >= 24 ? 20 : 24
export const findOtherNode = () => process.env.OTHER_NODE_BINARY || findNode(other)
export const provisionOtherNode = () => provision(findOtherNode, NODE_PACKAGE, NODES[other])

const homeOf = (name, version) => join(CACHE, `${name.split('/').at(-1)}-${version}`)
const binaryOf = (name, version, binary) => join(homeOf(name, version), 'node_modules', name, 'bin', binary)

/** Installs a package of binaries beside the project's own, where it is not found yet. */
function provision(find, name, version) {
  if (find()) return { name: find() }
  mkdirSync(CACHE, { recursive: true })
  const home = homeOf(name, version)
  const unfinished = mkdtempSync(`${home}-`)
  const options = ['install', '--prefix', unfinished, '--ignore-scripts', '--no-audit', '--no-fund']
  try {
    execFileSync('npm', [...options, `${name}@${version}`], { stdio: ['ignore', 'ignore', 'pipe'] })
    renameSync(unfinished, home)
    return { name: find() }
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (find()) return { name: find() }
    const said = `${error.stderr ?? error.message}`.trim().split('\n').at(-1)
    return { missing: `${name} ${version} could not be installed: ${said}` }
  }
}

export function findChromium() {
  const named = process.env.CHROMIUM_BINARY
  if (named) return isExecutable(named) ? named : undefined
  return CHROMIUM_APPS.find(isExecutable) ?? CHROMIUMS.map(onPath).find(Boolean)
}

/** A MongoDB that the caller starts, kills and starts again; `prepare` makes it ready the first time. */
export function findMongo() {
  const mongod = process.env.MONGOD_BINARY || onPath('mongod')
  return mongod ? mongodProgram(mongod) : secantusProgram(onPath('secantusd-rs') ?? provisionSecantus())
}

const mongodProgram = (binary) => ({
  name: binary,
  binary,
  options: (directory, port) => [
    ...['--dbpath', directory, '--port', `${port}`, '--bind_ip', '127.0.0.1', '--replSet', 'test'],
  ],
  prepare: (port) => initiate(`mongodb://127.0.0.1:${port}/?directConnection=true`, port),
})

const secantusProgram = (binary) => ({
  name: `SecantusDB ${SECANTUS}`,
  binary,
  options: (directory, port) => [
    ...['--port', `${port}`, '--sync-on-commit', '--cache-size', '512M', '--log-file-max', '128MB'],
    ...['--log-level', 'ERROR', '--storage-path', directory],
  ],
  prepare: async () => {},
})

async function startMongod(binary) {
  const port = await freePort()
  const { name, options, prepare } = mongodProgram(binary)
  const server = await startServer(binary, (directory) => options(directory, port), /Waiting for connections/)
  await prepare(port)
  return { uri: `mongodb://127.0.0.1:${port}/?directConnection=true`, name, died: server.died, stop: server.stop }
}

async function startSecantus(binary) {
  const { name, options } = secantusProgram(binary)
  const server = await startServer(binary, (directory) => options(directory, 0), /listening on (\S+)/)
  return { uri: `mongodb://${server.ready[1]}/?directConnection=true`, name, died: server.died, stop: server.stop }
}

function provisionSecantus() {
  const home = join(CACHE, `secantus-${SECANTUS}`)
  const binary = join(home, 'secantusdb.scripts', 'secantusd-rs')
  try {
    installPython(home, binary, [`SecantusDB==${SECANTUS}`])
  } catch (error) {
    throw new Error(
      `no mongod here, and SecantusDB ${SECANTUS} could not be installed by python3 -m pip: ${error.message}`,
    )
  }
  return binary
}

const pythonHome = () => {
  const wanted = createHash('sha256').update(readFileSync(PYTHON_CLIENT)).digest('hex').slice(0, 12)
  return join(CACHE, `python-client-${wanted}`)
}
const generatorIn = (home) => join(home, 'bin', 'openapi-python-client')

/** The `PYTHONPATH` with the packages that generate Python clients, if they are installed. */
export function findPythonClient() {
  const home = pythonHome()
  return existsSync(generatorIn(home)) ? home : undefined
}

/** Sees to it that there is one: `{ name }`, or why there is none: `{ missing }`. */
export function provisionPythonClient() {
  const home = pythonHome()
  try {
    installPython(home, generatorIn(home), ['--requirement', PYTHON_CLIENT])
    return { name: home }
  } catch (error) {
    return { missing: `scripts/python-client.txt could not be installed by python3 -m pip: ${error.message}` }
  }
}

/** Packages in a folder of their own, which systems that manage their Python allow, until `proof` is there. */
function installPython(home, proof, packages) {
  if (existsSync(proof)) return
  mkdirSync(CACHE, { recursive: true })
  const unfinished = mkdtempSync(`${home}-`)
  const options = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', unfinished]
  try {
    execFileSync('python3', [...options, ...packages], { stdio: ['ignore', 'ignore', 'pipe'] })
    renameSync(unfinished, home)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(proof)) throw new Error(`${error.stderr ?? error.message}`.trim().split('\n').at(-1))
  }
}

/** Resolves once the server has printed that it is ready; its data lives and dies with it. */
async function startServer(binary, options, ready) {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-server-'))
  const child = spawn(binary, options(directory), { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)))
  let isStopped = false
  const died = ended.then((how) => (isStopped ? undefined : `${binary} ended by itself: ${how}`))
  const stop = async () => {
    isStopped = true
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
    await ended
    clearTimeout(late)
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    return { ready: await printed(child, ready), died, stop, signal: (name) => child.kill(name) }
  } catch (error) {
    await stop()
    throw new Error(`${binary} did not start: ${error.message}`)
  }
}

function printed(child, pattern) {
  return new Promise((resolve, reject) => {
    let output = ''
    const late = setTimeout(() => reject(new Error('not ready in time')), START_MILLISECONDS)
    const look = (chunk) => {
      output += chunk
      const match = pattern.exec(output)
      if (!match) return
      for (const stream of [child.stdout, child.stderr]) stream.off('data', look).resume()
      clearTimeout(late)
      resolve(match)
    }
    for (const stream of [child.stdout, child.stderr]) stream.on('data', look)
    child.once('error', (error) => {
      clearTimeout(late)
      child.emit('close')
      reject(error)
    })
    child.once('exit', (code) => {
      clearTimeout(late)
      reject(new Error(`exit ${code}: ${output.trim().split('\n').at(-1)}`))
    })
  })
}

async function initiate(uri, port) {
  await withClient(uri, async (client) => {
    const admin = client.db('admin')
    await admin.command({ replSetInitiate: { _id: 'test', members: [{ _id: 0, host: `127.0.0.1:${port}` }] } })
    for (const deadline = Date.now() + START_MILLISECONDS; Date.now() < deadline; ) {
      if ((await admin.command({ hello: 1 })).isWritablePrimary) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error('the replica set did not elect a primary in time')
  })
}

/** Databases of the tests on a server that is not ours to stop. */
async function dropTestDatabases(uri) {
  await withClient(uri, async (client) => {
    const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true })
    const ours = databases.filter(({ name }) => name.startsWith(process.env.PLAZA_TEST_DATABASES ?? 'plaza_test_'))
    for (const { name } of ours) await client.db(name).dropDatabase()
  })
}

async function withClient(uri, work) {
  const { default: mongoose } = await import('mongoose')
  const client = new mongoose.mongo.MongoClient(uri, { serverSelectionTimeoutMS: 5000 })
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** A free port outside the system's own range, so that its server finds it free, even after a restart. */
export async function freePort() {
  for (;;) {
    const port = randomInt(10_000, 32_768)
    if (await isFree(port)) return port
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

function onPath(name) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
