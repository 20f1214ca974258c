import { type ReactNode, useId, useState } from 'react'
import { isSameAccount } from '#shared/kit/accounts'
import { pageAt } from '#shared/kit/pages'
import { isWebAddress } from '#shared/kit/web-address'
import { useSession } from '../accounts/session.ts'
import { useOpenDm } from '../direct/use-open-dm.ts'
import { ActButton } from '../kit/act-button.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useStoredPicture } from '../media/stored.ts'
import { OuterLink, outward } from '../messages/outer-link.tsx'
import { profileTexts as t } from '../texts/profiles.ts'
import profilesStyles from './profiles.module.css'
import type { Shown, ShownItem, ShownPicture } from './shown.ts'
import styles from './widget-card.module.css'

/** One widget as it looks. Nothing of it is loaded from elsewhere: what it names there is a link. */
export function WidgetCard({ shown }: { shown: Shown }) {
  const { sign, title, big, prose, lines, turns, meter, facts, items, chips, colors, pictures, link, act } = shown
  return (
    <>
      {title && (
        <h2>
          {sign && <Sign sign={sign} />}
          {isolated(title)}
        </h2>
      )}
      {!title && !prose && sign && <Sign sign={sign} />}
      {prose && (
        <p dir="auto" className={`${profilesStyles.widgetProse} as-${prose.style} ${prose.size} ${prose.alignment}`}>
          {sign && <Sign sign={sign} />}
          {isolated(prose.text)}
        </p>
      )}
      {big && <p className={`${styles.widgetBig} numerals`}>{isolated(big)}</p>}
      {pictures && pictures.length > 0 && <Pictures pictures={pictures} />}
      <Lines lines={lines ?? []} />
      {turns && <Turns {...turns} />}
      {meter && <Meter {...meter} />}
      {facts && <Facts facts={facts} />}
      {items && items.length > 0 && <Items items={items} />}
      {chips && chips.length > 0 && (
        <ul className={styles.widgetChips}>
          {numbered(chips).map(([key, chip]) => (
            <li key={key}>{isolated(chip)}</li>
          ))}
        </ul>
      )}
      {colors && <Colors colors={colors} />}
      {link && <Leads {...link} about={title || ''} />}
      {act && <WidgetAct act={act} />}
    </>
  )
}

/** Things that have no ids and never change places, each with a key. */
const numbered = <Thing,>(things: readonly Thing[]): (readonly [key: string, thing: Thing])[] =>
  things.map((thing, at) => [`${at}`, thing])

const Sign = ({ sign }: { sign: string }) => (
  <span className={profilesStyles.widgetSign} aria-hidden="true">
    {sign}
  </span>
)

function Lines({ lines }: { lines: readonly string[] }) {
  return numbered(lines).map(([key, text]) => (
    <p key={key} className={profilesStyles.widgetLine}>
      {isolated(text)}
    </p>
  ))
}

function Leads({ href, says, about }: { href: string; says: string; about: string }) {
  if (!pageAt(href)) {
    return (
      <p className={styles.widgetLeads}>
        <OuterLink href={href} words={says}>
          {says}
          {about && <span className="unseen">: {isolated(about)}</span>}
        </OuterLink>
      </p>
    )
  }
  return (
    <p className={styles.widgetLeads}>
      <a href={href}>{says}</a>
    </p>
  )
}

function Turns({ texts, first, mayTurn }: NonNullable<Shown['turns']>) {
  const [at, setAt] = useState(first)
  return (
    <>
      <p className={profilesStyles.widgetLine} aria-live="polite">
        {isolated(texts[at % texts.length] ?? '')}
      </p>
      {mayTurn && (
        <button type="button" className={profilesStyles.widgetAct} onClick={() => setAt(at + 1)}>
          {t.another}
        </button>
      )}
    </>
  )
}

function Meter({ share, says }: NonNullable<Shown['meter']>) {
  return (
    <div className={styles.widgetMeter}>
      <Bar share={share} />
      <small className="numerals">{says}</small>
    </div>
  )
}

const Bar = ({ share }: { share: number }) => (
  <span className={styles.widgetBar} aria-hidden="true">
    <i style={{ width: `${Math.round(share * 100)}%` }} />
  </span>
)

function Facts({ facts }: { facts: NonNullable<Shown['facts']> }) {
  return (
    <dl className={styles.widgetFacts}>
      {numbered(facts).map(([key, { value, label }]) => (
        <div key={key}>
          <dt>{isolated(label)}</dt>
          <dd className="numerals">{isolated(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

function Items({ items }: { items: readonly ShownItem[] }) {
  return (
    <ul className={styles.widgetItems}>
      {numbered(items).map(([key, item]) => (
        <Item key={key} item={item} />
      ))}
    </ul>
  )
}

function Item({ item: { title, detail, sign, isDone, share, link, picture } }: { item: ShownItem }) {
  const stored = useStoredPicture(picture?.url)
  return (
    <li>
      {isDone !== undefined && (
        <span className={profilesStyles.widgetSign}>
          <span aria-hidden="true">{isDone ? '☑' : '☐'}</span>
          <span className="unseen">{isDone ? t.done : t.open} </span>
        </span>
      )}
      {stored && <img className={styles.widgetCover} src={stored} alt="" loading="lazy" />}
      <span className="grow">
        {sign && <Sign sign={sign} />}
        {link ? (
          <OuterLink href={link} words={title}>
            {isolated(title || link)}
          </OuterLink>
        ) : (
          isolated(title)
        )}
        {detail && <small>{isolated(detail)}</small>}
        {share !== undefined && <Bar share={share} />}
      </span>
      {share !== undefined && <small className="numerals">{Math.round(share * 100)} %</small>}
    </li>
  )
}

function Colors({ colors }: { colors: NonNullable<Shown['colors']> }) {
  return (
    <ul className={styles.widgetColors}>
      {numbered(colors).map(([key, { hex, name, isNamed }]) => (
        <li key={key}>
          <span style={{ background: hex }} aria-hidden="true" />
          <small className={isNamed ? '' : 'unseen'}>{isolated(name)}</small>
        </li>
      ))}
    </ul>
  )
}

/** One picture fills its widget; several are walked through sideways. */
function Pictures({ pictures }: { pictures: readonly ShownPicture[] }) {
  const label = useId()
  const [first] = pictures
  if (pictures.length === 1 && first) return <Picture picture={first} />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className={styles.widgetStrip} aria-labelledby={label} tabIndex={0}>
      <span id={label} className="unseen">
        {t.pictures({ count: pictures.length })}
      </span>
      {numbered(pictures).map(([key, picture]) => (
        <Picture key={key} picture={picture} />
      ))}
    </section>
  )
}

function Picture({ picture: { url, alt, caption, link, fit } }: { picture: ShownPicture }) {
  const stored = useStoredPicture(url)
  const words = caption || alt || t.picture
  if (!stored) {
    return (
      <p className={styles.widgetElsewhere}>
        <Icon name="image" />
        <span>
          <OuterLink href={url} words={words}>
            {isolated(words)}
          </OuterLink>
        </span>
      </p>
    )
  }
  const image = (
    <img
      src={stored}
      alt={alt}
      loading="lazy"
      referrerPolicy="no-referrer"
      className={fit === 'contain' || fit === 'fill' ? fit : ''}
    />
  )
  return (
    <figure className={styles.widgetPicture}>
      {link ? (
        <PictureLink href={link} words={words}>
          {image}
        </PictureLink>
      ) : (
        image
      )}
      {caption && <figcaption>{isolated(caption)}</figcaption>}
    </figure>
  )
}

const PictureLink = ({ href, words, children }: { href: string; words: string; children: ReactNode }) =>
  isWebAddress(href) ? (
    <a href={href} title={isolated(href)} aria-label={words} {...outward}>
      {children}
    </a>
  ) : (
    children
  )

/** What a widget offers to do: to write to somebody, or to copy something. Nobody writes to themself. */
function WidgetAct({ act }: { act: NonNullable<Shown['act']> }) {
  const { account } = useSession()
  const tell = useTell()
  const openDm = useOpenDm()
  if (act.kind === 'message') {
    if (isSameAccount(act.account, account)) return null
    return (
      <ActButton className={profilesStyles.widgetAct} onPress={() => openDm(act.account)}>
        {t.message}
      </ActButton>
    )
  }
  const copy = () =>
    navigator.clipboard.writeText(act.text).then(
      () => void tell(t.copied),
      () => void tell(t.notCopied),
    )
  return (
    <ActButton className={profilesStyles.widgetAct} aria-label={act.label} onPress={copy}>
      {t.copy}
    </ActButton>
  )
}
