import type { Config } from '#server/config'
import type { Services } from '#server/kernel/context'
import { googleCalendars } from '#server/ports/calendar/google'
import { githubIssues } from '#server/ports/issues/github'
import type { PartsOf } from './part.ts'

type AtOtherSites = 'issues' | 'calendars'

export const openOtherSites = ({ github, google }: Config): Pick<Services, AtOtherSites> => ({
  issues: github && githubIssues(github.apiUrl, github.repository, github.token),
  calendars: google && googleCalendars(google),
})

export const otherSitesParts: PartsOf<AtOtherSites> = {
  issues: ({ github }) =>
    github
      ? { part: 'issues', adapter: github.repository, why: 'GITHUB_TOKEN and GITHUB_REPOSITORY are set' }
      : { part: 'issues', adapter: 'none', why: 'GITHUB_TOKEN is not set: what needs the code host answers 500' },
  calendars: ({ google }) =>
    google
      ? { part: 'calendars', adapter: 'google', why: 'GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET are set' }
      : { part: 'calendars', adapter: 'none', why: 'GOOGLE_CLIENT_ID is not set: nobody connects one' },
}
