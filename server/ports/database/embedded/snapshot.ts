/** Copies a store into an empty directory as it stands at one moment. It may be at work in another process, which is not held up. */
export async function snapshot(directory: string, to: string): Promise<void> {
  const lmdb = await import('lmdb')
  const source = lmdb.open<Buffer, Buffer>({ path: directory, noSubdir: false, readOnly: true, ...encodings })
  try {
    await source.backup(to, true)
  } finally {
    await source.close()
  }
}

const encodings = { keyEncoding: 'binary', encoding: 'binary' } as const
