import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { isolated, nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { goTo } from '../rooms/route.ts'
import { agentListTexts as t } from '../texts/agent-chat.ts'
import { AgentHead, AgentPicture } from './agent-head.tsx'
import styles from './agents-home.module.css'

/** The agents of the account, its favorites, and those of others. */
export function AgentsHome() {
  const client = useClient()
  const { account } = useSession()
  const own = useLoaded('own', async () => (await client.agents.list()).agents)
  const favorites = useLoaded('favorites', async () => (await client.agents.favorites()).favorites)
  const isFavorite = (id: string) => favorites.value?.some(({ agent }) => agent.id === id) === true

  const keep = async (id: string) => {
    if (isFavorite(id)) await client.agents.removeFavorite({ agentId: id })
    else await client.agents.addFavorite({ agentId: id })
    favorites.reload()
  }

  return (
    <main className="room agents" aria-label={t.title}>
      <AgentHead title={t.title} back={{ title: t.back, go: () => goTo(null) }}>
        <button type="button" className="button small main" onClick={() => navigate(linkTo('agentNew'))}>
          <Icon name="plus" />
          {t.create}
        </button>
      </AgentHead>
      <div className="page broad">
        <section aria-labelledby="own-agents">
          <h2 id="own-agents">{t.own}</h2>
          <Listed
            loaded={own}
            empty={
              <Blank icon="agent" title={t.none}>
                <p>{t.noneHint}</p>
                <button type="button" className="button small" onClick={() => navigate(linkTo('agentNew'))}>
                  {t.make}
                </button>
              </Blank>
            }
          >
            {(agents) => (
              <ul className={styles.agentCards}>
                {agents.map((agent) => (
                  <Card
                    key={agent.id}
                    agent={agent}
                    facts={
                      isSameAccount(agent.owner_address, account)
                        ? t.visibility[agent.visibility]
                        : t.visibility.official
                    }
                  >
                    <a
                      className="icon-button small"
                      href={linkTo('agentEdit', { agent: agent.id })}
                      aria-label={t.editOne({ name: isolated(agent.name) })}
                      title={t.edit}
                    >
                      <Icon name="pencil" />
                    </a>
                  </Card>
                ))}
              </ul>
            )}
          </Listed>
        </section>
        {favorites.value !== null && favorites.value.length > 0 && (
          <section aria-labelledby="favorite-agents">
            <h2 id="favorite-agents">{t.favorites}</h2>
            <ul className={styles.agentCards}>
              {favorites.value.map(({ agent }) => (
                <Card key={agent.id} agent={agent} facts={factsOf(agent)}>
                  <Star name={agent.name} isOn onPress={() => keep(agent.id)} />
                </Card>
              ))}
            </ul>
          </section>
        )}
        <Discover isFavorite={isFavorite} onKeep={keep} />
      </div>
    </main>
  )
}

const filters = ['all', 'official', 'friends'] as const
const pageSize = 20

function Discover(props: { isFavorite: (id: string) => boolean; onKeep: (id: string) => Promise<void> }) {
  const client = useClient()
  const [search, setSearch] = useState('')
  const [filter, setFilter] = useState<(typeof filters)[number]>('all')
  const [limit, setLimit] = useState(pageSize)
  const wanted = search.trim()
  const found = useLoaded(`${filter} ${wanted}`, () => client.agents.discover({ filter, limit, search: wanted }))
  const more = async () => {
    const next = Math.min(limit + pageSize, 100)
    const wider = await client.agents.discover({ filter, limit: next, search: wanted })
    setLimit(next)
    found.change(() => wider)
  }
  const listing = { ...found, value: found.value?.agents ?? null }
  const { total = 0 } = found.value ?? {}

  return (
    <section aria-labelledby="other-agents">
      <h2 id="other-agents">{t.discover}</h2>
      <div className={`row wrap ${styles.agentSearch}`}>
        <input
          dir="auto"
          className="input grow"
          type="search"
          aria-label={t.find}
          placeholder={t.find}
          maxLength={100}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        {filters.map((name) => (
          <button
            key={name}
            type="button"
            className="chip"
            aria-pressed={filter === name}
            onClick={() => setFilter(name)}
          >
            {t.filters[name]}
          </button>
        ))}
      </div>
      <Listed loaded={listing} empty={<Blank icon="search" title={wanted ? t.notFound : t.nothing} />}>
        {(agents) => (
          <ul className={styles.agentCards}>
            {agents.map((agent) => (
              <Card key={agent.id} agent={agent} facts={factsOf(agent)}>
                <Star name={agent.name} isOn={props.isFavorite(agent.id)} onPress={() => props.onKeep(agent.id)} />
              </Card>
            ))}
          </ul>
        )}
      </Listed>
      {listing.value !== null && listing.value.length < Math.min(total, 100) && (
        <ActButton className="button small" onPress={more}>
          {t.more}
        </ActButton>
      )}
    </section>
  )
}

interface Shown {
  id: string
  name: string
  personality: string
  avatar_emoji: string
  avatar_url: string | null
  tags: readonly string[]
}

function Card({ agent, facts, children }: { agent: Shown; facts: string; children: React.ReactNode }) {
  return (
    <li className={styles.agentCard}>
      <AgentPicture emoji={agent.avatar_emoji} picture={agent.avatar_url} />
      <div className="grow">
        <a href={linkTo('agentChat', { agent: agent.id })}>{isolated(agent.name)}</a>
        <p dir="auto">{agent.personality || t.noDescription}</p>
        <small>{[facts, ...agent.tags].join(' · ')}</small>
      </div>
      {children}
    </li>
  )
}

function Star({ name, isOn, onPress }: { name: string; isOn: boolean; onPress: () => Promise<void> }) {
  return (
    <ActButton
      className={`icon-button small star ${isOn ? 'on' : ''}`}
      aria-label={t.isFavorite({ name: isolated(name) })}
      title={isOn ? t.unfavorite : t.favorite}
      aria-pressed={isOn}
      onPress={onPress}
    >
      <Icon name="star" />
    </ActButton>
  )
}

type Found = Pick<Parameters<typeof Card>[0]['agent'], 'id'> & {
  visibility: keyof typeof t.visibility
  message_count: number
  owner_address: string
  owner: { username: string | null; ensName: string | null }
}

function factsOf({ visibility, message_count, owner, owner_address }: Found): string {
  const by =
    visibility === 'official'
      ? t.visibility.official
      : t.by({ name: nameOf(owner.username ?? owner.ensName, owner_address) })
  return t.facts({ by, count: message_count })
}
