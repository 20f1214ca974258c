/** A program in place of the reader's. It does with a file as the file says, and returns documents unchanged. */
process.on('disconnect', () => process.exit())
process.on('message', ({ file, document }: { file?: Uint8Array; document?: string }) => {
  process.send?.({ found: file ? shown(file) : { title: null, text: document, links: [], base: null } })
})
process.send?.('ready')

function shown(file: Uint8Array) {
  const said = Buffer.from(file).toString()
  if (said === 'end') process.exit(1)
  if (said === 'hang') for (;;);
  const kept: string[][] = []
  if (said === 'fill') for (;;) kept.push(Array.from({ length: 100_000 }, (_, at) => `${at}`))
  // The heap holds none of these bytes.
  const buffers: Buffer[] = []
  if (said === 'swell') for (;;) buffers.push(Buffer.alloc(2 ** 24, 1))
  return { ending: 'png', bytes: file }
}
