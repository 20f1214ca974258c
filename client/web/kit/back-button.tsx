import { Icon } from './icon.tsx'

export function BackButton(props: { title: string; className?: string; onPress: () => void }) {
  const { title, className = '', onPress } = props
  return (
    <button type="button" className={`icon-button ${className}`} aria-label={title} title={title} onClick={onPress}>
      <Icon name="back" />
    </button>
  )
}
