import { type CSSProperties, type ReactNode, useEffect, useState } from 'react'
import { type Board, boardTypes } from '#shared/api/people/profile-board'
import { defaultTheme, type ProfileTheme } from '#shared/api/people/profile-theme'
import type { Widget } from '#shared/api/people/profile-widgets'
import { isSameAccount } from '#shared/kit/accounts'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { MakeForm } from '../kit/make-form.tsx'
import { momentOf } from '../kit/moment.ts'
import { Problem, Skeleton } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { type Loaded, useLoaded } from '../kit/use-loaded.ts'
import { useStoredPicture } from '../media/stored.ts'
import { locale } from '../texts/language.ts'
import { profileTexts as t } from '../texts/profiles.ts'
import dressedStyles from './dressed.module.css'
import profilesStyles from './profiles.module.css'
import { type Config, configOf, type Seen } from './shown.ts'
import { styleOf } from './theme-fields.ts'
import styles from './widget-board.module.css'
import { WidgetCard } from './widget-card.tsx'
import { shownOf } from './widget-words.ts'

const longestEntry = 300

const words: ProblemWords = {
  BLOCKED: t.board.blocked,
  BLOCKED_WORD: t.board.blockedWord,
}

export const isBoard = ({ widget_type }: Pick<Widget, 'widget_type'>): boolean =>
  boardTypes.some((type) => type === widget_type)

/** What visitors write in a widget: entries, answers, reactions, or that they were there. */
export function WidgetBoard({ owner, widget }: { owner: string; widget: Widget }) {
  const client = useClient()
  const place = { owner, widget_id: widget.id }
  const isCounter = widget.widget_type === 'visitor_counter'
  const loaded = useLoaded(widget.id, async () => {
    // A visit may be refused, which changes nothing here.
    if (isCounter) await client.profiles.visit({ owner }).catch(() => undefined)
    return (await client.profiles.board(place)).board
  })
  const { value: board, error, reload } = loaded
  if (!board) return error ? <Problem error={error} onRetry={reload} /> : <Skeleton rows={2} />
  const config = configOf(widget.config)
  const choose = async (choice: string, is_on: boolean) => {
    const { board: now } = await client.profiles.choose({ ...place, choice, is_on })
    loaded.change(() => now)
  }
  if (isCounter) return <p className={`${styles.count} numerals`}>{board.visitors.toLocaleString(locale)}</p>
  if (widget.widget_type === 'poll') return <Poll board={board} config={config} onChoose={choose} />
  if (widget.widget_type === 'reaction_wall') return <Reactions board={board} config={config} onChoose={choose} />
  return <Guestbook owner={owner} widget={widget} loaded={loaded} />
}

interface ChooseProps {
  board: Board
  config: Config
  onChoose: (choice: string, isOn: boolean) => Promise<void>
}

function Poll({ board, config, onChoose }: ChooseProps) {
  const options = config.list('options').filter((one) => one.text('text') !== '' && one.text('id') !== '')
  const votes = options.reduce((sum, one) => sum + (board.counts[one.text('id')] ?? 0), 0)
  const isShown = votes > 0 && !config.isOff('showResults')
  const ends = config.text('endDate')
  const isOver = ends !== '' && Date.parse(ends) <= Date.now()
  return (
    <>
      <ul className={styles.options}>
        {options.map((one) => {
          const id = one.text('id')
          const share = votes === 0 ? 0 : (board.counts[id] ?? 0) / votes
          const isOwn = board.own.includes(id)
          return (
            <li key={id}>
              <ActButton
                className={styles.option}
                aria-pressed={isOwn}
                disabled={isOver}
                onPress={() => onChoose(id, !isOwn)}
              >
                {isShown && <i aria-hidden="true" style={{ width: `${Math.round(share * 100)}%` }} />}
                <span className="grow">{isolated(one.text('text'))}</span>
                {isShown && <small className="numerals">{Math.round(share * 100)} %</small>}
                {isOwn && <Icon name="check" />}
              </ActButton>
            </li>
          )
        })}
      </ul>
      {isShown && <small>{t.widgets.votes({ count: votes })}</small>}
    </>
  )
}

const Reactions = ({ board, config, onChoose }: ChooseProps) => (
  <ul className={styles.reactions}>
    {[...new Set(config.texts('allowedEmojis'))].map((sign) => {
      const isOwn = board.own.includes(sign)
      const count = board.counts[sign] ?? 0
      return (
        <li key={sign}>
          <ActButton className={styles.reaction} aria-pressed={isOwn} onPress={() => onChoose(sign, !isOwn)}>
            {isolated(sign)} {count > 0 && <span className="numerals">{count.toLocaleString(locale)}</span>}
          </ActButton>
        </li>
      )
    })}
  </ul>
)

function Guestbook({ owner, widget, loaded }: { owner: string; widget: Widget; loaded: Loaded<Board> }) {
  const client = useClient()
  const { account } = useSession()
  const [text, setText] = useState('')
  const isOwner = isSameAccount(owner, account)
  const most = configOf(widget.config).number('maxMessages')
  const entries = (loaded.value?.entries ?? []).slice(0, most ?? undefined)
  const sign = async () => {
    const { entry } = await client.profiles.sign({ owner, widget_id: widget.id, text })
    setText('')
    loaded.change((board) => ({ ...board, entries: [entry, ...board.entries] }))
  }
  const remove = async (id: string) => {
    await client.profiles.removeEntry({ id })
    loaded.change((board) => ({ ...board, entries: board.entries.filter((one) => one.id !== id) }))
  }
  return (
    <>
      {!isOwner && (
        <MakeForm label={t.board.write} action={t.board.sign} words={words} onMake={sign}>
          <textarea
            dir="auto"
            className="input"
            rows={2}
            required
            aria-label={t.board.write}
            placeholder={t.board.write}
            maxLength={longestEntry}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </MakeForm>
      )}
      {entries.length === 0 ? (
        <p className={profilesStyles.widgetLine}>{isOwner ? t.board.noneYet : t.board.first}</p>
      ) : (
        <ul className={styles.entries} aria-label={t.widgets.guestbook}>
          {entries.map(({ id, author_address, author_name, text: said, created_at }) => (
            <li key={id}>
              <span className="grow">
                <bdi>{said}</bdi>
                <small>
                  {isolated(author_name)} · {momentOf(created_at)}
                </small>
              </span>
              {(isOwner || isSameAccount(author_address, account)) && (
                <ActButton
                  className="icon-button small"
                  aria-label={t.board.removeOf({ name: isolated(author_name) })}
                  title={t.board.remove}
                  onPress={() => remove(id)}
                >
                  <Icon name="bin" />
                </ActButton>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** Draws its content in the colours of a theme, or of the page if no theme is saved. A picture behind it is drawn if it is stored here. */
export function Dressed({ theme, children }: { theme: ProfileTheme | null; children: ReactNode }) {
  const picture = useStoredPicture(theme?.background_type === 'image' ? theme.background_value : null)
  if (!theme) return <div className={profilesStyles.profile}>{children}</div>
  return (
    <div
      className={`${profilesStyles.profile} ${theme.card_style} font-${theme.font_family}`}
      style={styleOf(theme, picture)}
    >
      <Effect name={theme.background_effect} />
      {children}
    </div>
  )
}

const pieces = 24
/** Steps that are coprime to what they are taken of, so that pieces lie neither in rows nor on one another. */
const steps = { left: 61, top: 37, delay: 29, size: 7 }

/** What moves behind the cards; it stays still for whoever wants less motion. */
function Effect({ name }: { name: ProfileTheme['background_effect'] }) {
  if (name === 'none') return null
  return (
    <div className={`${dressedStyles.profileEffect} ${name}`} aria-hidden="true">
      {Array.from({ length: pieces }, (_, at) => {
        const style = {
          left: `${(at * steps.left) % 100}%`,
          top: `${(at * steps.top) % 100}%`,
          '--late': `${-((at * steps.delay) % 100) / 10}s`,
          '--large': 0.6 + ((at * steps.size) % 10) / 10,
        } as CSSProperties
        return <i key={style.left} style={style} />
      })}
    </div>
  )
}

const minuteMilliseconds = 60_000

/** For which account's profile, and when; renewed every minute, as clocks show no seconds. */
export function useSeen(owner: string): Seen {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), minuteMilliseconds)
    return () => clearInterval(timer)
  }, [])
  return { now, owner }
}

/** What somebody shows of themself, as they have dressed it. Of what is empty, or of a type that this page does not know, nothing is shown. */
export function ProfileView(props: { owner: string; widgets: readonly Widget[]; theme: ProfileTheme | null }) {
  const { owner, widgets, theme } = props
  const seen = useSeen(owner)
  return (
    <Dressed theme={theme}>
      <ul className={profilesStyles.profileWidgets}>
        {widgets.map((widget) => {
          const shown = shownOf(widget, seen)
          return (
            shown && (
              <li key={widget.id} className={`size-${widget.size}`}>
                <div className={profilesStyles.profileWidget}>
                  <WidgetCard shown={shown} />
                  {isBoard(widget) && <WidgetBoard owner={owner} widget={widget} />}
                </div>
              </li>
            )
          )
        })}
      </ul>
      <Badge theme={theme} />
    </Dressed>
  )
}

export const Badge = ({ theme }: { theme: ProfileTheme | null }) =>
  (theme ?? defaultTheme).show_spritz_badge && <p className={profilesStyles.profileBadge}>{t.badge}</p>
