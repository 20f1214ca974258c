import { lengthInBytes } from '../kit/byte-length.ts'
import { mediaTexts as t } from '../texts/media.ts'
import { tooLarge } from './words.ts'

const longestSide = 2_048
const quality = 0.88
/** What is opened at all: a picture is held in memory unpacked. */
const mostOpened = 60_000_000
const kinds = ['image/jpeg', 'image/png', 'image/webp', 'image/avif', 'image/heic', 'image/heif', 'image/bmp']

export const pickable = [...kinds, 'image/gif'].join()
export const isPicture = ({ type }: Blob): boolean => type === 'image/gif' || kinds.includes(type)

/**
 * A picture as it is sent: scaled down, and without what is written in it beside the picture, such as the place where it was taken.
 * A GIF stays as it is. Rejects in words for the person.
 */
export async function prepared(file: File, mostBytes: number): Promise<Blob> {
  if (!isPicture(file)) throw new Error(t.problems.notSendable)
  const made = file.type === 'image/gif' ? file : await scaled(file)
  return fitting(made, mostBytes)
}

/** Throws in words for the person, where it is larger. */
export function fitting(made: Blob, mostBytes: number): Blob {
  if (made.size > mostBytes) throw new Error(tooLarge(made.size, mostBytes))
  return made
}

const faceSide = 512

/** The small picture of a person or a room: the middle of it, square. */
export async function facePicture(file: File): Promise<File> {
  if (!isPicture(file)) throw new Error(t.problems.notUsable)
  const picture = await opened(file)
  const side = Math.min(picture.width, picture.height)
  const canvas = canvasOf(faceSide, faceSide)
  const [left, top] = [(picture.width - side) / 2, (picture.height - side) / 2]
  canvas.getContext('2d')?.drawImage(picture, left, top, side, side, 0, 0, faceSide, faceSide)
  picture.close()
  const made = await written(canvas, file.type)
  return new File([made], 'picture', { type: made.type })
}

async function scaled(file: File): Promise<Blob> {
  const picture = await opened(file)
  const scale = Math.min(1, longestSide / Math.max(picture.width, picture.height))
  const canvas = canvasOf(
    Math.max(1, Math.round(picture.width * scale)),
    Math.max(1, Math.round(picture.height * scale)),
  )
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  return written(canvas, file.type)
}

async function opened(file: File): Promise<ImageBitmap> {
  if (file.size > mostOpened) throw new Error(t.problems.tooLargeToScale({ size: lengthInBytes(file.size) }))
  return createImageBitmap(file).catch(() => {
    throw new Error(t.problems.notReadable)
  })
}

function canvasOf(width: number, height: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  return canvas
}

async function written(canvas: HTMLCanvasElement, given: string): Promise<Blob> {
  // A JPEG has no transparency to be kept. A browser that cannot write WebP writes PNG.
  const type = given === 'image/jpeg' ? 'image/jpeg' : 'image/webp'
  const made = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, quality))
  if (!made) throw new Error(t.problems.notScaled)
  return made
}
