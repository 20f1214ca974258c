import { useEffect, useState, useSyncExternalStore } from 'react'
import { observable } from '#client/sdk/observable'
import { deviceTexts as t } from '../texts/devices.ts'

/** As browsers name the kinds of devices. */
export type DeviceKind = 'audioinput' | 'videoinput' | 'audiooutput'

/** The ids of the chosen devices, and whether the camera was off at last. */
interface DeviceChoice extends Partial<Record<DeviceKind, string>> {
  isCameraOff?: boolean
}

const key = 'plaza.devices'

function keptChoice(): DeviceChoice {
  try {
    return { ...(JSON.parse(localStorage.getItem(key) ?? '{}') as DeviceChoice) }
  } catch {
    return {}
  }
}

const choice = observable<DeviceChoice>(keptChoice())
const subscribe = (listener: () => void) => choice.subscribe(listener)

/** What this browser remembers of devices. */
export const deviceChoice = (): DeviceChoice => choice.value
export const useDeviceChoice = (): DeviceChoice => useSyncExternalStore(subscribe, deviceChoice)

export function chooseDevices(part: DeviceChoice): void {
  choice.set({ ...choice.value, ...part })
  localStorage.setItem(key, JSON.stringify(choice.value))
}

/** The devices of this machine, as they are plugged in and out. Before the page may use one they have no names, so it looks again as the own tracks change. */
export function useDevices({
  audio,
  video,
}: {
  audio: MediaStreamTrack | null
  video: MediaStreamTrack | null
}): readonly MediaDeviceInfo[] {
  const [devices, setDevices] = useState<readonly MediaDeviceInfo[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new track is a reason to look
  useEffect(() => {
    const { mediaDevices } = navigator
    if (!mediaDevices) return
    const look = () => void mediaDevices.enumerateDevices().then(setDevices, () => {})
    look()
    mediaDevices.addEventListener('devicechange', look)
    return () => mediaDevices.removeEventListener('devicechange', look)
  }, [audio, video])
  return devices
}

/** Whether this browser lets a page choose its speaker. */
export const canChooseSpeaker = (): boolean => 'setSinkId' in HTMLMediaElement.prototype

/** The id of the speaker, empty for the standard one, and what is said where the chosen one is unplugged. */
export function speakerOf({ audiooutput: id }: DeviceChoice, devices: readonly MediaDeviceInfo[]) {
  const speakers = devices.filter(({ kind, deviceId }) => kind === 'audiooutput' && deviceId !== '')
  if (!id || speakers.length === 0 || !canChooseSpeaker()) return { speaker: '', notice: null }
  const isThere = speakers.some(({ deviceId }) => deviceId === id)
  return isThere ? { speaker: id, notice: null } : { speaker: '', notice: t.speakerGone }
}
