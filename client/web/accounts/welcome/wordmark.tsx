export function Wordmark() {
  return (
    <span className="wordmark">
      <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <path d="M7.5 26V13a8.5 8.5 0 0 1 17 0v13" />
        <circle cx="16" cy="22.5" r="3" />
      </svg>
      Plaza
    </span>
  )
}
