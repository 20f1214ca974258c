import { Component, type ReactNode } from 'react'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './timeline.module.css'

/** A row that cannot be shown is told in its place, and takes no other away. Another content is tried anew. */
export class RowBoundary extends Component<{ of: object; children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false }

  static getDerivedStateFromError() {
    return { isBroken: true }
  }

  override componentDidUpdate(before: { of: object }) {
    if (this.state.isBroken && before.of !== this.props.of) this.setState({ isBroken: false })
  }

  override render() {
    return this.state.isBroken ? <li className={styles.notice}>{t.broken}</li> : this.props.children
  }
}
