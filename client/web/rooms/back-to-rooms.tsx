import { BackButton } from '../kit/back-button.tsx'
import { controlTexts } from '../texts/controls.ts'
import { goTo } from './route.ts'

/** A link back to the list of rooms, on screens too narrow to show it beside the room. */
export const BackToRooms = () => (
  <BackButton className="back" title={controlTexts.backToRooms} onPress={() => goTo(null)} />
)
