import { createHash, randomUUID } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { mkdtemp, open, readdir, rm, stat, statfs } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Request, Response } from 'express'
import multer, { type Options, type StorageEngine } from 'multer'
import { AppError } from '#shared/errors'
import type { Operation } from '#shared/kit/contract'
import { fewAtOnce } from './few-at-once.ts'
import { onAnswerEnd } from './http/deadline.ts'
import { refuseLongBody } from './http/http-errors.ts'
import { makeDirectory } from './make-directory.ts'

/** A folder of another machine may be in use, until nothing was written for this long. */
const forgottenMilliseconds = 24 * 3_600_000

/**
 * A folder of this process below `wanted`, after removal of those of dead processes. If nothing can be written there,
 * it is in the temporary folder.
 */
export async function openSpoolFolder(wanted: string, now: () => number): Promise<string> {
  const make = async (folder: string) => {
    await makeDirectory(folder)
    return folder
  }
  const parent = await make(wanted).catch(() => make(join(tmpdir(), 'plaza-receiving')))
  const own = `${hostname().replace(/[^\w-]/g, '_')}.`
  for (const name of await readdir(parent)) {
    const path = join(parent, name)
    const isLeft = name.startsWith(own) ? await isDead(name, path) : await isForgotten(path, now())
    if (isLeft) await rm(path, { recursive: true, force: true })
  }
  return mkdtemp(join(parent, `${own}${process.pid}.`))
}

/** A reused process number: the process began after the folder was made. */
async function isDead(name: string, path: string): Promise<boolean> {
  const pid = Number(name.split('.')[1])
  const found = await stat(path).catch(() => null)
  if (pid === process.pid) return found !== null && found.mtimeMs < performance.timeOrigin
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

async function isForgotten(path: string, now: number): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found !== null && found.mtimeMs < now - forgottenMilliseconds
}

interface FormFile {
  field: string
  maxBytes: number
  operation: Operation
}

/** The sender of a file. */
export interface Sender {
  account: string
  ip: string
}

/**
 * Called before bytes are received: throws if the sender's uploads are too many. Returns the function that ends the
 * count.
 */
export type UploadAdmission = (sender: Sender, bytes: number) => Promise<() => void>

interface UploadOptions {
  now(): number
  /** The most bytes of a file of this sender, known before it is read. Null: the contract alone limits it. */
  mostBytes(sender: Sender, operation: Operation): Promise<number | null>
  admit: UploadAdmission
  /** The bytes of the disk that uploads leave free. */
  reserveBytes: number
}

/** Receives bodies of multipart/form-data. */
export interface Uploads {
  /** Reads a body into `request.body`, its file as a `File`; the returned function deletes the received bytes. */
  receive(request: Request, response: Response, file: FormFile, sender: Sender): Promise<() => void>
  /** Is the disk too full for an upload, or for the last refused one? */
  isFull(): Promise<boolean>
  close(): Promise<void>
}

/** An image has a conversation, an address, a type, a commitment and a key; other forms have fewer. */
const fieldsAtMost = 5
const longestField = 512
/** The bytes of a form beside its file: names, fields and boundaries. */
const aroundFile = 64 * 1024
/** The most file chunks written at a time; other uploads wait, so that the loop and the disk stay free. */
const writesAtOnce = 2

/** A received file. Its JSON is its hash, which distinguishes calls with one key. */
export class ReceivedFile extends File {
  readonly sha256: string

  constructor(bytes: Blob, sha256: string) {
    super([bytes], 'upload')
    this.sha256 = sha256
  }

  toJSON() {
    return { sha256: this.sha256, bytes: this.size }
  }
}

/** Stores uploads in progress in a folder below this one, instead of memory. */
export async function openUploads(
  parent: string,
  { now, mostBytes, admit, reserveBytes }: UploadOptions,
): Promise<Uploads> {
  const folder = await openSpoolFolder(parent, now)
  const inTurn = fewAtOnce(writesAtOnce)
  const room = roomOf(folder, reserveBytes)
  return {
    async receive(request, response, { field, operation, ...declared }, sender) {
      if (!/^multipart\/form-data\s*;/i.test(request.get('content-type') ?? ''))
        throw new AppError('VALIDATION_ERROR', { message: `${field} is required, in multipart/form-data` })
      const ofSender = await mostBytes(sender, operation)
      const maxBytes = Math.min(declared.maxBytes, ofSender ?? declared.maxBytes)
      const tooLarge = new AppError(
        'PAYLOAD_TOO_LARGE',
        ofSender === null
          ? { message: `A file may have at most ${maxBytes} bytes` }
          : {
              message: `Your account may send files of at most ${maxBytes / 2 ** 20} MB`,
              details: { most_bytes: maxBytes },
            },
      )
      const mostOfBody = maxBytes + aroundFile
      refuseLongBody(request, response, mostOfBody, tooLarge)
      const isReceived = await admitted(request, response, mostOfBody, (bytes) => admit(sender, bytes), room.take)
      let fault: unknown = null
      const { received, storage } = spool(folder, inTurn, (error) => {
        fault = error
      })
      const remove = () => void Promise.allSettled(received.map(discard))
      const limits = {
        fileSize: maxBytes,
        files: 1,
        fields: fieldsAtMost,
        parts: fieldsAtMost + 1,
        fieldNameSize: 32,
        fieldSize: longestField,
        headerPairs: 16,
        fieldNestingDepth: 0,
        fieldArrayIndexLimit: 0,
      }
      await readForm(request, response, field, { storage, limits }, tooLarge)
        .catch((error: unknown) => {
          remove()
          // The unread rest would be taken for the next request.
          if (!request.readableEnded) response.set('Connection', 'close')
          throw refusalOf(error instanceof AppError ? error : (fault ?? error))
        })
        .finally(isReceived)
      const [file] = received
      request.body = { ...request.body, ...(file ? { [field]: await openFile(file) } : {}) }
      return remove
    },
    isFull: () => room.isLacking().catch(() => false),
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

type Take = (bytes: number) => Promise<() => void>

/**
 * Reserves a body's declared length, or the maximum, from each budget during the upload. A refusal reserves nothing.
 */
async function admitted(
  request: Request,
  response: Response,
  mostBytes: number,
  ...takes: Take[]
): Promise<() => void> {
  const bytes = Number(request.get('content-length') ?? mostBytes)
  const taken = new Set<() => void>()
  const giveBack = () => {
    for (const give of taken) give()
    taken.clear()
  }
  try {
    for (const take of takes) taken.add(await take(bytes))
  } catch (error) {
    giveBack()
    response.set('Connection', 'close')
    throw error
  }
  onAnswerEnd(request, response, giveBack)
  return giveBack
}

/** The reserved space of a folder's disk; the storage may need as much again for the copy. */
function roomOf(folder: string, reserveBytes: number) {
  let promised = 0
  /** The largest refused upload, until it would fit. */
  let refused = 0
  const isRoomFor = async (bytes: number) => {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize >= reserveBytes + promised + bytes
  }
  const take: Take = async (bytes) => {
    if (!(await isRoomFor(bytes))) {
      refused = Math.max(refused, bytes)
      throw new AppError('SERVICE_UNAVAILABLE', { message: 'There is no room for files at the moment' })
    }
    promised += bytes
    return () => {
      promised -= bytes
    }
  }
  const isLacking = async () => {
    const isRoom = await isRoomFor(Math.max(refused, aroundFile))
    if (isRoom) refused = 0
    return !isRoom
  }
  return { take, isLacking }
}

interface Received {
  path: string
  sha256: string
  /** Resolves when all writes have ended. */
  written: Promise<unknown>
}

/** Deletes after the write, which would create the file again. */
async function discard({ path, written }: Received): Promise<void> {
  await written
  await rm(path, { force: true })
}

type InTurn = ReturnType<typeof fewAtOnce>

function spool(
  folder: string,
  inTurn: InTurn,
  failed: (error: unknown) => void,
): { received: Received[]; storage: StorageEngine } {
  const received: Received[] = []
  return {
    received,
    storage: {
      _handleFile(_request, { stream }, done) {
        const file = { path: join(folder, randomUUID()), sha256: '', written: Promise.resolve() }
        received.push(file)
        file.written = write(file.path, stream, inTurn)
          .then((sha256) => {
            file.sha256 = sha256
            done(null, {})
          })
          .catch((error: unknown) => {
            failed(error)
            done(error)
          })
      },
      _removeFile: (_request, _file, done) => done(null),
    },
  }
}

/** Writes the chunks in turn with other uploads, and returns the hash. */
async function write(path: string, stream: Readable, inTurn: InTurn): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const piece of stream)
      await inTurn(() => {
        hash.update(piece)
        return file.writeFile(piece)
      })
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}

const openFile = async ({ path, sha256 }: Received): Promise<File> => new ReceivedFile(await openAsBlob(path), sha256)

/** Ends with the form or its first fault; the parser would first read the rest of a faulty one. */
const readForm = (request: Request, response: Response, field: string, options: Options, tooLarge: AppError) =>
  new Promise<void>((resolve, reject) => {
    const streamHandler = (_request: Request, form: Writable) => {
      const refuse = (error: unknown) => {
        reject(error)
        request.unpipe(form)
        // The parser must not be destroyed while it parses.
        setImmediate(() => form.destroy())
        request.resume()
      }
      for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'])
        form.once(limit, () => refuse(new Error(`The form has more: ${limit}`)))
      form.on('file', (_name: string, file: Readable) => file.once('limit', () => refuse(tooLarge)))
      // Before the parser, which ends a form without a reason.
      form.prependListener('field', (name: string | undefined, _value, { nameTruncated, valueTruncated }) => {
        if (name !== undefined && valueTruncated && !nameTruncated) refuse(longFieldError(name))
      })
      // The parser reports early only by this event that it has given up.
      form.once('unpipe', () => {
        if (!request.readableEnded) refuse(new Error('The form is broken off'))
      })
      request.pipe(form)
    }
    multer({ ...options, streamHandler } as Options).single(field)(request, response, (error?: unknown) =>
      error ? reject(error) : resolve(),
    )
  })

const longFieldError = (name: string) =>
  new AppError('VALIDATION_ERROR', {
    message: `${name}: too long, at most ${longestField} bytes`,
    details: { path: name },
  })

function refusalOf(error: unknown): AppError {
  if (error instanceof AppError) return error
  const isStore = typeof (error as NodeJS.ErrnoException | null)?.errno === 'number'
  return isStore
    ? new AppError('SERVICE_UNAVAILABLE', { message: 'Files cannot be received at the moment', cause: error })
    : new AppError('VALIDATION_ERROR', { message: 'The form could not be read', cause: error })
}
