const keptMilliseconds = 60_000

/** Saves a file under a name, as a download. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), keptMilliseconds)
}
