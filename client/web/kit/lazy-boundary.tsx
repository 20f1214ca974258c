import { Component, type ReactNode, Suspense } from 'react'

/** Around what is loaded when it is first needed: what is shown until then, and where it cannot be had. */
export class LazyBoundary extends Component<{ waiting?: ReactNode; children: ReactNode }, { isMissing: boolean }> {
  override state = { isMissing: false }

  static getDerivedStateFromError() {
    return { isMissing: true }
  }

  override render() {
    if (!this.state.isMissing) return <Suspense fallback={this.props.waiting ?? null}>{this.props.children}</Suspense>
    return (
      <p className="problem" role="alert">
        This part of the page could not be loaded.
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </p>
    )
  }
}
