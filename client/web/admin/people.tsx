import { useState } from 'react'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { fullTimeOf } from '../kit/format.ts'
import { Blank, Listed } from '../kit/notice.tsx'
import { useSettled } from '../kit/use-loaded.ts'
import { usePages } from '../kit/use-pages.ts'
import { adminTexts } from '../texts/admin.ts'
import { controlTexts } from '../texts/controls.ts'
import styles from './administration.module.css'
import { type Person, PersonDialog, personName } from './person.tsx'

const t = adminTexts.people
const filters = ['all', 'applied', 'has_access'] as const
type Filter = (typeof filters)[number]
const pageLength = 25

/** Finds accounts, and opens what admins may do with one. */
export function People() {
  const client = useClient()
  const [search, setSearch] = useState('')
  const [filter, setFilter] = useState<Filter>('all')
  const [openId, setOpenId] = useState<string | null>(null)
  const asked = useSettled(search.trim())
  const people = usePages(`${filter} ${asked}`, async (cursor) => {
    const page = Number(cursor ?? 1)
    const { users, totalPages } = await client.accounts.users({
      page,
      limit: pageLength,
      sortBy: 'created_at',
      ...(asked && { search: asked }),
      ...(filter !== 'all' && { betaAccessFilter: filter }),
    })
    return { items: users, next_cursor: page < totalPages ? String(page + 1) : null }
  })
  const open = people.value?.find(({ id }) => id === openId) ?? null
  const change = (changes: Partial<Person>) =>
    people.change((shown) => shown.map((person) => (person.id === openId ? { ...person, ...changes } : person)))

  return (
    <>
      <input
        type="search"
        dir="auto"
        className="input"
        aria-label={t.search}
        placeholder={t.search}
        maxLength={160}
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      <fieldset className="row wrap">
        <legend className="unseen">{t.filter}</legend>
        {filters.map((one) => (
          <button key={one} type="button" className="chip" aria-pressed={one === filter} onClick={() => setFilter(one)}>
            {t.filters[one]}
          </button>
        ))}
      </fieldset>
      <Listed loaded={people} empty={<Blank icon="people" title={asked ? t.none({ search: asked }) : t.empty} />}>
        {(all) => (
          <ul className="quiet-list" aria-label={adminTexts.tabs.people}>
            {withoutRepeats(all).map((person) => (
              <PersonRow key={person.id} person={person} onOpen={() => setOpenId(person.id)} />
            ))}
          </ul>
        )}
      </Listed>
      {people.more && (
        <ActButton className="button small" onPress={people.more}>
          {controlTexts.showMore}
        </ActButton>
      )}
      {open && <PersonDialog person={open} onChange={change} onClose={() => setOpenId(null)} />}
    </>
  )
}

/** A new account moves the others, so that one may be on two pages. */
const withoutRepeats = (all: readonly Person[]): readonly Person[] => [
  ...new Map(all.map((person) => [person.id, person])).values(),
]

function PersonRow({ person, onOpen }: { person: Person; onOpen: () => void }) {
  const name = personName(person)
  const seen = person.last_active_at ?? person.last_login
  return (
    <li>
      <button type="button" className={styles.person} aria-haspopup="dialog" onClick={onOpen}>
        <Avatar id={person.wallet_address} name={name} picture={person.avatar_url} />
        <span className="grow">
          <strong>{name}</strong>
          <small>
            {person.username && (
              <>
                <bdi>@{person.username}</bdi> ·{' '}
              </>
            )}
            {seen ? t.seen({ time: fullTimeOf(seen) }) : t.neverSeen}
          </small>
        </span>
        {person.role !== 'user' && <span className="chip">{t.roles[person.role]}</span>}
        {person.is_banned && <span className="chip grave">{t.suspended}</span>}
        {person.beta_access_applied && !person.beta_access && <span className="chip warm">{t.applied}</span>}
      </button>
    </li>
  )
}
