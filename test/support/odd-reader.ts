/** A program in the place of the reader's: it does with a file what the file says. */
process.on('disconnect', () => process.exit())
process.on('message', ({ file }: { file: Uint8Array }) => {
  const said = Buffer.from(file).toString()
  if (said === 'end') process.exit(1)
  if (said === 'hang') for (;;);
  const kept: string[][] = []
  if (said === 'fill') for (;;) kept.push(Array.from({ length: 100_000 }, (_, at) => `${at}`))
  process.send?.({ found: { ending: 'png', bytes: file } })
})
process.send?.('ready')
