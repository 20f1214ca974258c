import type { OwnAgent } from '#shared/api/agents/agent-records'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'
import { locale } from '../texts/language.ts'

/** What the form of an agent holds; lists are written as text. */
export interface AgentFields {
  name: string
  avatarEmoji: string
  personality: string
  systemInstructions: string
  greeting: string
  /** Empty where the server decides. */
  model: string
  temperature: string
  visibility: OwnAgent['visibility']
  questions: string
  tags: string
  useKnowledgeBase: boolean
  webSearchEnabled: boolean
  schedulingEnabled: boolean
  eventsAccess: boolean
}

/** As the server makes an agent of which nothing is said. */
export const newFields: AgentFields = {
  name: '',
  avatarEmoji: '🤖',
  personality: '',
  systemInstructions: '',
  greeting: '',
  model: '',
  temperature: '',
  visibility: 'private',
  questions: '',
  tags: '',
  useKnowledgeBase: false,
  webSearchEnabled: false,
  schedulingEnabled: false,
  eventsAccess: false,
}

export const fieldsOf = (agent: OwnAgent): AgentFields => ({
  name: agent.name,
  avatarEmoji: agent.avatar_emoji,
  personality: agent.personality,
  systemInstructions: agent.system_instructions,
  greeting: agent.greeting,
  model: agent.model,
  temperature: agent.temperature === null ? '' : String(agent.temperature),
  visibility: agent.visibility,
  questions: (agent.own_questions ?? []).join('\n'),
  tags: agent.tags.join(', '),
  useKnowledgeBase: agent.use_knowledge_base,
  webSearchEnabled: agent.web_search_enabled,
  schedulingEnabled: agent.scheduling_enabled,
  eventsAccess: agent.events_access,
})

const listOf = (text: string, between: RegExp): string[] =>
  text
    .split(between)
    .map((part) => part.trim())
    .filter(Boolean)

/** The most characters of each field. */
export const longest = { name: 100, personality: 1_000, systemInstructions: 4_000, greeting: 500 } as const
const mostQuestions = 4
const longestQuestion = 100
const mostTags = 5
const longestTag = 20
const oneEmoji = /^\p{RGI_Emoji}$/v

const isLonger = (most: number) => (text: string) => [...text].length > most

type Longest = keyof typeof longest
export const lengthOf = (fields: AgentFields, name: Longest): number => [...fields[name].trim()].length

type Problems = Partial<Record<Longest, string>> & {
  avatarEmoji?: string
  questions?: string
  tags?: string
}

/** What is wrong with the fields, in words; empty where they can be sent. */
export function problemsOf(fields: AgentFields): Problems {
  const { questions, tags, avatarEmoji } = fields
  const asked = listOf(questions, /\n/)
  const tagged = listOf(tags, /,/)
  const problems: Problems = {}
  for (const name of ['name', 'personality', 'systemInstructions', 'greeting'] as const)
    if (lengthOf(fields, name) > longest[name])
      problems[name] = t.faults.tooLong({
        most: longest[name].toLocaleString(locale),
        count: lengthOf(fields, name).toLocaleString(locale),
      })
  if (lengthOf(fields, 'name') === 0) problems.name = t.faults.noName
  if (!oneEmoji.test(avatarEmoji)) problems.avatarEmoji = t.faults.emoji
  if (asked.some(isLonger(longestQuestion))) problems.questions = t.faults.longQuestion({ most: longestQuestion })
  if (asked.length > mostQuestions) problems.questions = t.faults.manyQuestions({ most: mostQuestions })
  if (tagged.some(isLonger(longestTag))) problems.tags = t.faults.longTag({ most: longestTag })
  if (tagged.length > mostTags) problems.tags = t.faults.manyTags({ most: mostTags })
  return problems
}

/** The first of them. */
export const problemOf = (fields: AgentFields): string | null => Object.values(problemsOf(fields))[0] ?? null

/** What is sent: of an agent that exists, the fields that were changed. */
export function inputOf(fields: AgentFields, before: AgentFields | null) {
  const { questions, tags, temperature, model, ...same } = fields
  const isChanged = (name: keyof AgentFields) => before === null || before[name] !== fields[name]
  const suggested = listOf(questions, /\n/)
  const plain = Object.fromEntries(
    Object.entries(same).filter(
      ([name, value]) =>
        isChanged(name as keyof AgentFields) &&
        !(value === '' && (name === 'personality' || name === 'systemInstructions')),
    ),
  ) as Partial<typeof same>
  return {
    ...plain,
    ...(isChanged('tags') ? { tags: listOf(tags, /,/) } : {}),
    ...(isChanged('questions') ? { suggestedQuestions: suggested.length > 0 ? suggested : null } : {}),
    ...(isChanged('model') && model !== '' ? { model } : {}),
    ...(isChanged('temperature') ? { temperature: temperature === '' ? null : Number(temperature) } : {}),
  }
}

export const isSame = (one: AgentFields, other: AgentFields): boolean =>
  (Object.keys(one) as (keyof AgentFields)[]).every((name) => one[name] === other[name])
