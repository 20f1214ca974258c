import { type FormEvent, useState } from 'react'
import { reportTypes } from '#shared/api/moderation/social'
import { cut } from '#shared/kit/cut'
import { conversationOf } from '#shared/kit/room-key'
import { useClient } from '../../connection/client.ts'
import { Problem } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { handIn, sealedMediaOf } from '../../media/evidence.ts'
import { evidenceOf } from '../../media/words.ts'
import { peopleTexts as t } from '../../texts/people.ts'
import { valueText, valueTexts } from '../../texts/values.ts'
import type { PersonOfInterest } from '../person-of-interest.ts'
import { useSession } from '../session.ts'
import { useBlocks } from '../use-blocked.ts'

export function ReportForm({ person, onDone }: { person: PersonOfInterest; onDone: () => void }) {
  const client = useClient()
  const tell = useTell()
  const { account } = useSession()
  const blocks = useBlocks()
  const [reportType, setReportType] = useState<(typeof reportTypes)[number]>('spam')
  const [description, setDescription] = useState('')
  const [alsoBlock, setAlsoBlock] = useState(false)
  const [isShown, setShown] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)

  const media = sealedMediaOf(person.live?.state.messages.find(({ id }) => id === person.messageId))
  const kind = media?.kind === 'voice' ? 'voice' : 'picture'

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    const room = person.live?.ref
    try {
      const evidence = isShown && person.live && media ? await handIn(client, person.live, media) : null
      await client.social.report({
        reportedAddress: person.id,
        reportType,
        description: description.trim() || null,
        alsoBlock,
        evidence,
        ...(room ? conversationOf(room, account) : {}),
        ...(person.messageId ? { messageId: person.messageId } : {}),
        ...(person.messageText ? { messageContent: cut(person.messageText, 1_000) } : {}),
      })
      if (alsoBlock) blocks.changed()
      tell(t.form.sent)
      onDone()
    } catch (cause) {
      setError(cause)
      setBusy(false)
    }
  }

  return (
    <form className="stack" onSubmit={submit}>
      {person.messageText && <blockquote className="quoted">{evidenceOf(person.messageText)}</blockquote>}
      <fieldset className="row wrap">
        <legend className="label">{t.form.category}</legend>
        {reportTypes.map((type) => (
          <button
            key={type}
            type="button"
            className="chip"
            aria-pressed={type === reportType}
            onClick={() => setReportType(type)}
          >
            {valueText(valueTexts.reports, type)}
          </button>
        ))}
      </fieldset>
      <label className="field">
        <span>{t.form.description}</span>
        <textarea
          dir="auto"
          className="input"
          rows={3}
          maxLength={2_000}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </label>
      {media && (
        <div>
          <label className="check">
            <input
              type="checkbox"
              aria-describedby="evidence-hint"
              checked={isShown}
              onChange={(event) => setShown(event.target.checked)}
            />
            {t.form.evidence({ kind })}
          </label>
          <p id="evidence-hint" className="hint">
            {t.form.evidenceHint({ kind })}
          </p>
        </div>
      )}
      <label className="check">
        <input type="checkbox" checked={alsoBlock} onChange={(event) => setAlsoBlock(event.target.checked)} />
        {t.form.alsoBlock}
      </label>
      <Problem error={error} />
      <div className="row end">
        <button type="submit" className="button main" aria-disabled={isBusy || undefined}>
          {t.form.send}
        </button>
      </div>
    </form>
  )
}
