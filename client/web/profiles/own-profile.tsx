import { useState } from 'react'
import type { ProfileTheme } from '#shared/api/people/profile-theme'
import { type Widget, type WidgetType, widgetsAtMost } from '#shared/api/people/profile-widgets'
import { linkTo } from '#shared/kit/pages'
import { useSession } from '../accounts/session.ts'
import { AgentHead } from '../agents/agent-head.tsx'
import { Icon } from '../kit/icon.tsx'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import { goTo } from '../rooms/route.ts'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'
import { AddWidget } from './add-widget.tsx'
import { Dressed } from './dressed.tsx'
import { Badge } from './profile-view.tsx'
import styles from './profiles.module.css'
import { themeOf } from './theme-fields.ts'
import { ThemeForm } from './theme-form.tsx'
import { Tiles } from './tiles.tsx'
import { useOwnPage } from './use-own-page.ts'
import { WidgetDialog } from './widget-dialog.tsx'
import { begun } from './widget-titles.ts'

type Edited = Pick<Widget, 'widget_type' | 'config'> & { stored: Widget | null }

/** The profile of the account, to be arranged and dressed. */
export function OwnProfile() {
  const { account } = useSession()
  const page = useOwnPage()
  const [draft, setDraft] = useState<ProfileTheme | null>(null)
  const [isChoosing, setChoosing] = useState(false)
  const [edited, setEdited] = useState<Edited | null>(null)
  const { value, error, reload } = page
  const saved = themeOf(value?.theme ?? null)
  const worn = draft ?? (value?.theme ? saved : null)
  const isFull = (value?.widgets.length ?? 0) >= widgetsAtMost

  const begin = (widget_type: WidgetType) => {
    setChoosing(false)
    setEdited({ widget_type, config: begun(widget_type, account), stored: null })
  }
  const addButton = (
    <button
      type="button"
      className="button small main"
      aria-disabled={isFull || !value || undefined}
      title={isFull ? t.full({ count: widgetsAtMost }) : undefined}
      onClick={() => {
        if (!isFull && value) setChoosing(true)
      }}
    >
      <Icon name="plus" />
      {t.add}
    </button>
  )

  return (
    <main className="room" aria-label={t.title}>
      <AgentHead title={t.title} back={{ title: t.back, go: () => goTo(null) }}>
        <div className="row">
          <button
            type="button"
            className="button small"
            aria-expanded={draft !== null}
            onClick={() => setDraft(draft ? null : saved)}
          >
            <Icon name="sun" />
            {t.look}
          </button>
          {addButton}
        </div>
      </AgentHead>
      <div className={`${styles.profilePage} ${draft ? 'dressing' : ''}`}>
        {draft && (
          <ThemeForm
            theme={draft}
            onChange={setDraft}
            onSave={async () => {
              await page.dress(draft)
              setDraft(null)
            }}
            onClose={() => setDraft(null)}
          />
        )}
        <div className="stack">
          <Problem error={error} onRetry={reload} />
          {!value && !error && <Skeleton rows={6} label={t.loading} />}
          {value && (
            <>
              <p className="row wrap hint">
                <span className="grow">{t.visible}</span>
                {isFull && <span>{t.full({ count: widgetsAtMost })}</span>}
                <a href={linkTo('profile', { address: account })}>{t.view}</a>
              </p>
              <Dressed theme={worn}>
                {value.widgets.length === 0 ? (
                  <div className={styles.profileWidget}>
                    <Blank icon="grid" title={t.empty}>
                      <p>{t.emptyHint}</p>
                      {addButton}
                    </Blank>
                  </div>
                ) : (
                  <Tiles
                    page={page}
                    widgets={value.widgets}
                    owner={account}
                    onEdit={(stored) => setEdited({ ...stored, stored })}
                  />
                )}
                <Badge theme={worn} />
              </Dressed>
            </>
          )}
        </div>
      </div>
      {isChoosing && <AddWidget onChoose={begin} onClose={() => setChoosing(false)} />}
      {edited && <WidgetDialog page={page} {...edited} onClose={() => setEdited(null)} />}
    </main>
  )
}
