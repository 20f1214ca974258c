import type { StoredAgent } from '#server/domains/agent-state/model'
import { cutToLength } from '#shared/kit/cut'

const longest = 100
const number = 4

/** What people may want to ask, by what an agent says of itself. */
const byTopic: readonly (readonly [topic: RegExp, question: string])[] = [
  [
    /\b(cod(e|ing|er)|program\w*|software|developer|javascript|typescript|python|rust)\b/,
    'Can you help me find a bug in my code?',
  ],
  [/\b(writ(e|er|ing)|author|poet\w*|stor(y|ies)|essay|copywrit\w*)\b/, 'Can you help me write something?'],
  [
    /\b(crypto\w*|blockchain|defi|coins?|nfts?|web3|ethereum|solana|wallet\w*)\b/,
    'What should I know before I use a blockchain?',
  ],
  [/\b(trad(e|er|ing)|invest\w*|financ\w*|stocks?|money|budget\w*)\b/, 'How do I make a budget?'],
  [/\b(cook\w*|chef|recipes?|food|kitchen|bak(e|ing|er))\b/, 'What can I cook tonight?'],
  [/\b(fitness|workouts?|gym|health\w*|yoga|running|nutrition)\b/, 'How do I begin to exercise?'],
  [/\b(travel\w*|trips?|touris\w*|hotels?|flights?)\b/, 'Where should I travel next?'],
  [/\b(music\w*|songs?|guitar|piano|bands?)\b/, 'What music would you recommend?'],
  [/\b(games?|gam(er|ing)|rpg|esports?)\b/, 'Which game should I play next?'],
  [/\b(teach\w*|tutor\w*|learn\w*|study|school|math\w*|education)\b/, 'Can you explain something to me step by step?'],
  [/\b(languages?|translat\w*|spanish|french|german|japanese|english)\b/, 'Can you translate something for me?'],
  [/\b(design\w*|art|artist\w*|draw\w*|paint\w*|logo|ui|ux)\b/, 'How can I make my design better?'],
  [/\b(market\w*|brand\w*|seo|advertis\w*|growth|sales)\b/, 'How do I tell more people about my project?'],
  [/\b(legal|law|lawyer|contracts?)\b/, 'What should I look for in a contract?'],
  [/\b(events?|conferences?|meetups?|hackathons?|part(y|ies)|summits?)\b/, 'What events are coming up?'],
  [/\b(news|current|politic\w*|world)\b/, 'What is new today?'],
  [/\b(movies?|films?|series|cinema|books?|reading)\b/, 'What would you recommend to watch or read?'],
  [/\b(funny|jokes?|humou?r\w*|comed\w*|sarcas\w*)\b/, 'Can you tell me a joke?'],
  [/\b(science|physics|chemistry|biology|space|astronom\w*)\b/, 'What is a fact that surprises most people?'],
  [/\b(data|analy\w*|statistic\w*|sql|spreadsheets?)\b/, 'How do I make sense of my data?'],
  [/\b(support|help ?desk|customers?|docs|documentation)\b/, 'Where do I begin?'],
]
const generic = ['What do you know most about?', 'Can you give me an example?', 'What should I ask you first?']

/** The questions that are shown beside an agent: those its admins wrote, or four that are made for one that is public. */
export function suggestedQuestionsOf(
  agent: Pick<StoredAgent, 'name' | 'personality' | 'tags' | 'visibility' | 'suggested_questions'>,
) {
  if (agent.visibility !== 'public') return agent.suggested_questions
  const about = [agent.personality, ...agent.tags].join(' ').toLowerCase()
  const found = byTopic.filter(([topic]) => topic.test(about)).map(([, question]) => question)
  return [firstQuestion(agent.name), ...found, ...generic].slice(0, number)
}

function firstQuestion(name: string): string {
  const [before, after] = ['What can ', ' help me with?']
  const room = longest - before.length - after.length
  const shown = name.length <= room ? name : `${cutToLength(name, room - 1)}…`
  return before + shown + after
}
