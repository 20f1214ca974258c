import { linkToStep, tourSteps } from './steps.ts'
import styles from './tour-list.module.css'

/** The list of the tour's steps, on the welcome screen. */
export function TourList() {
  return (
    <nav className={styles.tour} aria-labelledby="tour-title">
      <p id="tour-title" className="label">
        Or take the tour, as a guest
      </p>
      <ol>
        {tourSteps.map(({ name, title }) => (
          <li key={name}>
            <a href={linkToStep(name)}>{title}</a>
          </li>
        ))}
      </ol>
    </nav>
  )
}
