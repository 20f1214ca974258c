import mongoose from 'mongoose'
import { newNode, nodeEnvironment } from './cluster.ts'
import type { World } from './world.ts'

let starts = 0

/** Starts two nodes at once on an empty database, and checks that everything both create exists once. */
export async function startTogether({ cluster: { server, storeUri, directory }, breaches }: World): Promise<void> {
  if (storeUri === null) return
  const uri = new URL(storeUri)
  uri.pathname = `/plaza_faults_${++starts}`
  const environment = { ...nodeEnvironment, DATA_DIR: directory, MONGODB_URI: uri.href }
  const nodes = await Promise.all(['first', 'second'].map((name) => newNode(name, server, environment)))
  try {
    await Promise.all(nodes.map(({ process: node }) => node.start()))
    breaches.push(...(await foundDouble(uri.href)))
  } finally {
    for (const node of nodes) {
      breaches.push(...node.process.crashes)
      await node.process.kill()
      for (const link of Object.values(node.doors)) link.close()
    }
  }
}

export async function foundDouble(uri: string): Promise<string[]> {
  const client = new mongoose.mongo.MongoClient(uri, { serverSelectionTimeoutMS: 10_000 })
  try {
    const database = client.db()
    const alphas = await database.collection('rooms').countDocuments({ type: 'alpha' })
    const indexes = await database.collection('room_events').indexes()
    const unique = indexes.filter(({ unique: isUnique }) => isUnique).length
    return [
      ...(alphas === 1 ? [] : [`F24: ${alphas} alpha rooms`]),
      ...(unique === 2 ? [] : [`F24: ${unique} unique indexes on the log instead of 2`]),
    ]
  } finally {
    await client.close()
  }
}
