import { BackButton } from '../kit/back-button.tsx'
import { goTo } from './route.ts'

/** The way to the list, where it does not stand beside the room. */
export const BackToRooms = () => <BackButton className="back" title="Back to the rooms" onPress={() => goTo(null)} />
