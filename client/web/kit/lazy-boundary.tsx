import { Component, type ReactNode, Suspense } from 'react'
import { kitTexts as t } from '../texts/kit.ts'

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
        {t.notLoaded}
        <button type="button" onClick={() => location.reload()}>
          {t.reload}
        </button>
      </p>
    )
  }
}
