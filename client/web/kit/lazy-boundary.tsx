import { Component, type ReactNode, Suspense } from 'react'

/** A boundary for components that are loaded on first use: a fallback while they load, and an error if that fails. */
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
