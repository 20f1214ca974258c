import { welcomeTexts as t } from '../texts/welcome.ts'
import { linkToStep, tourSteps } from './steps.ts'
import styles from './tour-list.module.css'

/** The list of the tour's steps, on the welcome screen. */
export function TourList() {
  return (
    <nav className={styles.tour} aria-labelledby="tour-title">
      <p id="tour-title" className="label">
        {t.tour}
      </p>
      <ol>
        {tourSteps.map(({ name }) => (
          <li key={name}>
            <a href={linkToStep(name)}>{t.steps[name]}</a>
          </li>
        ))}
      </ol>
    </nav>
  )
}
