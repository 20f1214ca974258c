import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import { crc32 } from 'node:zlib'

/**
 * Runs the server's file by the code that V8 compiled at the build, which ends in a sum. For another source,
 * machine or Node, or under other options, V8 compiles the source anew.
 */
const filename = fileURLToPath(new URL('serve.cjs', import.meta.url))
const codeFile = fileURLToPath(new URL('serve.code', import.meta.url))
const sumBytes = 4

const bytes = readFileSync(filename)
const sumOf = (code) => crc32(code, crc32(bytes, crc32(`${process.version} ${process.arch}`)))

function readCode() {
  try {
    const saved = readFileSync(codeFile)
    const code = saved.subarray(0, -sumBytes)
    return saved.readUInt32LE(code.length) === sumOf(code) ? code : undefined
  } catch {
    return undefined
  }
}

export const script = new Script(bytes.latin1Slice(), { filename, cachedData: readCode() })
const program = { exports: {} }
script.runInThisContext()(program.exports, createRequire(filename), program, filename, dirname(filename))

/** Keeps the code of all that has run so far. */
export function saveCode() {
  const code = script.createCachedData()
  const sum = Buffer.alloc(sumBytes)
  sum.writeUInt32LE(sumOf(code))
  writeFileSync(codeFile, Buffer.concat([code, sum]))
}
