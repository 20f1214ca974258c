import { useSyncExternalStore } from 'react'

const subscribe = (listener: () => void) => {
  document.addEventListener('fullscreenchange', listener)
  return () => document.removeEventListener('fullscreenchange', listener)
}

/** Whether something fills the screen now. */
export const useFullScreen = (): boolean => useSyncExternalStore(subscribe, () => document.fullscreenElement !== null)

export const turnFullScreen = (element: Element): Promise<void> =>
  document.fullscreenElement ? document.exitFullscreen() : element.requestFullscreen()

/** Shows a video in a window above all others, or takes it back. */
export async function turnPictureInPicture(video: HTMLVideoElement): Promise<void> {
  if (document.pictureInPictureElement) await document.exitPictureInPicture()
  else await video.requestPictureInPicture()
}
