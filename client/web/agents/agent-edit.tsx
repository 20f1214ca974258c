import { useState } from 'react'
import { flushSync } from 'react-dom'
import { navigate } from 'wouter/use-browser-location'
import type { OwnAgent } from '#shared/api/agents/agent-records'
import { linkTo } from '#shared/kit/pages'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { fullTimeOf, isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { Tabs } from '../kit/tabs.tsx'
import { useTellLatest } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { PictureField } from '../media/picture-field.tsx'
import { agentFormOf, keepText, readText } from '../messages/drafts.ts'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'
import styles from './agent-edit.module.css'
import { type AgentFields, fieldsOf, inputOf, isSame, newFields, problemOf } from './agent-fields.ts'
import { AgentForm, focusWrong } from './agent-form.tsx'
import { AgentHead, AgentPicture } from './agent-head.tsx'
import { AgentMissing, Conversation, useAgent } from './conversation.tsx'
import { KnowledgePart } from './knowledge-part.tsx'
import { PricePart } from './price-part.tsx'
import { ToolsPart } from './tools-part.tsx'

const betaAccessTexts = t.beta

/** Where admins choose who may create agents, a request for that. */
function BetaAccess() {
  const client = useClient()
  const { value, reload } = useLoaded('beta', () => client.betaAccess.get())
  if (!value || value.hasBetaAccess) return null
  const apply = async () => {
    await client.betaAccess.apply({})
    reload()
  }
  return (
    <section className="row wrap" aria-label={betaAccessTexts.title}>
      <span className="grow" role="status">
        {value.appliedAt === null
          ? betaAccessTexts.hint
          : betaAccessTexts.applied({ time: fullTimeOf(value.appliedAt) })}
      </span>
      {!value.hasApplied && (
        <ActButton className="button" onPress={apply}>
          {betaAccessTexts.apply}
        </ActButton>
      )}
    </section>
  )
}

/** What a form of an agent holds: as it is stored, with what was changed in this browser and is not saved yet. */
function useKeptFields(place: string, stored: AgentFields) {
  const [fields, setFields] = useState<AgentFields>(() => ({ ...stored, ...changesIn(place) }))
  const change = (next: AgentFields) => {
    setFields(next)
    keepText(place, isSame(next, stored) ? null : JSON.stringify(changesOf(next, stored)))
  }
  /** Shows these instead, with nothing left to be saved. */
  const forget = (saved: AgentFields = stored) => {
    setFields(saved)
    keepText(place, null)
  }
  return [fields, change, forget] as const
}

const changesOf = (fields: AgentFields, stored: AgentFields): Partial<AgentFields> =>
  Object.fromEntries(Object.entries(fields).filter(([name, value]) => stored[name as keyof AgentFields] !== value))

const changesIn = (place: string): Partial<AgentFields> => JSON.parse(readText(place) ?? '{}') as Partial<AgentFields>

const formWords: ProblemWords = t.problems

export function AgentNew() {
  const client = useClient()
  const { account } = useSession()
  const [fields, setFields, forget] = useKeptFields(agentFormOf(account), newFields)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)

  const create = async () => {
    if (isBusy) return
    if (problemOf(fields)) return focusWrong()
    setBusy(true)
    try {
      const { agent } = await client.agents.create({ ...inputOf(fields, null), name: fields.name })
      forget()
      navigate(linkTo('agentEdit', { agent: agent.id }))
    } catch (cause) {
      setError(cause)
      setBusy(false)
    }
  }

  return (
    <main className="room agents" aria-label={t.new}>
      <AgentHead title={t.new} back={{ title: t.back, go: () => navigate(linkTo('agents')), isAlways: true }} />
      <div className="page narrow">
        <BetaAccess />
        <AgentForm fields={fields} onChange={setFields} onSubmit={() => void create()} isNew>
          <Problem error={error} words={formWords} />
          <div className="row end">
            <span className="hint grow">{t.tryAfter}</span>
            <button type="submit" className="button main" aria-disabled={isBusy || undefined}>
              {t.create}
            </button>
          </div>
        </AgentForm>
      </div>
    </main>
  )
}

export function AgentEdit({ id }: { id: string }) {
  const { value: agent, error, reload, change } = useAgent(id)
  if (!agent) return <AgentMissing error={error} onRetry={reload} />
  if (!agent.is_own) return <AgentMissing error={new Error(t.notYours)} onRetry={reload} />
  return <Editor agent={agent} onSaved={(saved) => change(() => saved)} />
}

const partNames = ['form', 'knowledge', 'tools', 'price', 'try'] as const
const parts = partNames.map((name) => ({ name, title: t.parts[name] }))

/** The form, and beside it a conversation to try what it says. On a phone, one of the two is shown. */
function Editor({ agent, onSaved }: { agent: OwnAgent; onSaved: (agent: OwnAgent) => void }) {
  const client = useClient()
  const tell = useTellLatest()
  const [error, setError] = useState<unknown>(null)
  const [part, setPart] = useState<(typeof partNames)[number]>('form')
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set(['form']))
  const [asksToDelete, setAsksToDelete] = useState(false)
  const { account } = useSession()
  const kept = fieldsOf(agent)
  const [fields, setFields, forget] = useKeptFields(agentFormOf(account, agent.id), kept)
  const isKept = isSame(fields, kept)
  const [isPriceKept, setPriceKept] = useState(true)

  const save = async () => {
    if (isKept) return
    const wrong = problemOf(fields)
    if (wrong) throw new Error(wrong)
    const { agent: saved } = await client.agents.update({ id: agent.id, ...inputOf(fields, kept) })
    setError(null)
    forget(fieldsOf(saved))
    onSaved(saved)
  }
  const submit = () =>
    save().then(
      () => {
        tell(t.saved)
      },
      (cause: unknown) => {
        tell(null)
        setError(cause)
        // The form shows the error.
        flushSync(() => show('form'))
        focusWrong()
      },
    )
  const show = (name: typeof part) => {
    setPart(name)
    setSeen((before) => new Set(before).add(name))
  }
  const undo = () => {
    forget()
    setError(null)
  }

  return (
    <main className="room agents" aria-label={t.edit({ name: agent.name })}>
      <AgentHead
        title={agent.name}
        emoji={agent.avatar_emoji}
        picture={agent.avatar_url}
        about={<span>{!isKept ? t.states.unsaved : isPriceKept ? t.states.saved : t.states.priceUnsaved}</span>}
        back={{ title: t.back, go: () => navigate(linkTo('agents')), isAlways: true }}
      >
        <button
          type="button"
          className="icon-button"
          aria-label={t.deletion.open}
          title={t.deletion.open}
          onClick={() => setAsksToDelete(true)}
        >
          <Icon name="bin" />
        </button>
        {!isKept && (
          <button type="button" className="button small plain" onClick={undo}>
            {t.undo}
          </button>
        )}
        <button
          type="button"
          className="button small main"
          aria-disabled={isKept || undefined}
          onClick={() => void submit()}
        >
          {t.save}
        </button>
      </AgentHead>
      <div className={`${styles.agentEditor} shows-${part}`}>
        <div className={styles.agentParts}>
          <Tabs label={t.parts.label} tabs={parts} chosen={part} onChoose={show} />
        </div>
        <div className={styles.agentSettings} role="tabpanel" aria-labelledby={`tab-${part}`}>
          <div hidden={part !== 'form' && part !== 'try'}>
            <div className="stack">
              {agent.ratings.up + agent.ratings.down > 0 && <p className="hint">{t.ratings(agent.ratings)}</p>}
              <OwnAgentPicture agent={agent} onSaved={onSaved} />
              <AgentForm
                fields={fields}
                onChange={setFields}
                onSubmit={() => void submit()}
                can={{ searchWeb: agent.searches_web, tellEvents: agent.events_access, models: agent.models }}
              >
                <Problem error={error} words={formWords} />
              </AgentForm>
            </div>
          </div>
          {/* What is written in a part stays there while another one is shown. */}
          <div hidden={part !== 'knowledge'}>{seen.has('knowledge') && <KnowledgePart agent={agent} />}</div>
          <div hidden={part !== 'tools'}>{seen.has('tools') && <ToolsPart agent={agent} onSaved={onSaved} />}</div>
          <div hidden={part !== 'price'}>
            {seen.has('price') && <PricePart agent={agent} onSaved={onSaved} onKept={setPriceKept} />}
          </div>
        </div>
        <section className={styles.agentTry} aria-label={t.parts.try}>
          <p className="hint">{t.tryHint}</p>
          <Conversation agent={agent} beforeAsk={save} />
        </section>
      </div>
      {asksToDelete && <DeleteAgent agent={agent} onClose={() => setAsksToDelete(false)} />}
    </main>
  )
}

/** It is stored by itself, as soon as it is chosen. */
function OwnAgentPicture({ agent, onSaved }: { agent: OwnAgent; onSaved: (agent: OwnAgent) => void }) {
  const client = useClient()
  const { status } = useSession()
  const { id, avatar_emoji: emoji, avatar_url: picture } = agent
  if (!status?.media) return null
  const store = async (file: File) => {
    const { avatar_url } = await client.uploads.agentAvatar({ id, file })
    onSaved({ ...agent, avatar_url })
  }
  const remove = async () => onSaved((await client.agents.update({ id, avatarUrl: null })).agent)
  return (
    <PictureField
      title={t.picture}
      shown={<AgentPicture emoji={emoji} picture={picture} size="large" />}
      onStore={store}
      onRemove={picture === null ? undefined : remove}
    />
  )
}

function DeleteAgent({ agent, onClose }: { agent: OwnAgent; onClose: () => void }) {
  const client = useClient()
  const [error, setError] = useState<unknown>(null)
  const remove = () => client.agents.remove({ id: agent.id }).then(() => navigate(linkTo('agents')), setError)
  return (
    <Dialog title={t.deletion.title} onClose={onClose}>
      <div className="stack">
        <p>{t.deletion.text({ name: isolated(agent.name) })}</p>
        <Problem error={error} />
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            {t.deletion.keep}
          </button>
          <button type="button" className="button grave" onClick={() => void remove()}>
            {t.deletion.delete}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
