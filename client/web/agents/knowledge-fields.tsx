import type { KnowledgeItem } from '#shared/api/agents/knowledge'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'

/** Whether an item is a file or a text, which was given as it is. */
export const isGiven = (item: KnowledgeItem): item is KnowledgeItem & { content_type: 'file' | 'text' } =>
  item.content_type === 'file' || item.content_type === 'text'

/** How a page is read, as a form holds it: patterns are written one in each line. */
interface ReadingFields {
  title: string
  scrapeMethod: KnowledgeItem['scrape_method']
  crawlDepth: string
  excludePatterns: string
  autoSync: boolean
  syncIntervalHours: string
}

export const newReading: ReadingFields = {
  title: '',
  scrapeMethod: 'basic',
  crawlDepth: '1',
  excludePatterns: '',
  autoSync: false,
  syncIntervalHours: '24',
}

export const readingOf = (item: KnowledgeItem): ReadingFields => ({
  title: item.title,
  scrapeMethod: item.scrape_method,
  crawlDepth: `${item.crawl_depth}`,
  excludePatterns: item.exclude_patterns.join('\n'),
  autoSync: item.auto_sync,
  syncIntervalHours: `${item.sync_interval_hours}`,
})

const longestTitle = 200
const mostPatterns = 20
const longestPattern = 200

const patternsOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** What is wrong with the patterns, in words. */
export function patternsProblem(text: string): string | null {
  const patterns = patternsOf(text)
  if (patterns.length > mostPatterns) return t.faults.manyPatterns({ most: mostPatterns })
  if (patterns.some((pattern) => [...pattern].length > longestPattern))
    return t.faults.longPattern({ most: longestPattern })
  return null
}

/** What is sent: how a page is read is for official agents alone. */
export function readingInput(fields: ReadingFields, isOfficial: boolean) {
  const title = fields.title.trim()
  return {
    ...(title === '' ? {} : { title }),
    ...(isOfficial
      ? {
          scrapeMethod: fields.scrapeMethod,
          crawlDepth: Number(fields.crawlDepth),
          excludePatterns: patternsOf(fields.excludePatterns),
          autoSync: fields.autoSync,
          syncIntervalHours: Number(fields.syncIntervalHours),
        }
      : {}),
  }
}

/** The title of a page and, of official agents, how it is read. */
export function KnowledgeFields(props: {
  fields: ReadingFields
  isOfficial: boolean
  onChange: (fields: ReadingFields) => void
}) {
  const { fields, isOfficial, onChange } = props
  const set = (more: Partial<ReadingFields>) => onChange({ ...fields, ...more })
  const wrong = patternsProblem(fields.excludePatterns)
  return (
    <>
      <label className="field">
        <span>{t.knowledge.title}</span>
        <input
          dir="auto"
          className="input"
          maxLength={longestTitle}
          value={fields.title}
          onChange={({ target }) => set({ title: target.value })}
        />
        <small>{t.knowledge.titleHint({ most: longestTitle })}</small>
      </label>
      {isOfficial && (
        <>
          <label className="field">
            <span>{t.knowledge.method}</span>
            <select
              className="input"
              value={fields.scrapeMethod}
              onChange={({ target }) => set({ scrapeMethod: target.value as ReadingFields['scrapeMethod'] })}
            >
              <option value="basic">{t.knowledge.basic}</option>
              <option value="advanced">{t.knowledge.advanced}</option>
            </select>
          </label>
          {fields.scrapeMethod === 'advanced' && (
            <>
              <label className="field">
                <span>{t.knowledge.depth}</span>
                <input
                  className="input"
                  type="number"
                  min={1}
                  max={5}
                  required
                  value={fields.crawlDepth}
                  onChange={({ target }) => set({ crawlDepth: target.value })}
                />
                <small>{t.knowledge.depthHint}</small>
              </label>
              <label className="field">
                <span>{t.knowledge.excluded}</span>
                <textarea
                  dir="auto"
                  className="input"
                  rows={2}
                  value={fields.excludePatterns}
                  aria-invalid={wrong !== null}
                  onChange={({ target }) => set({ excludePatterns: target.value })}
                />
                {wrong ? (
                  <small className="grave">{wrong}</small>
                ) : (
                  <small>{t.knowledge.excludedHint({ count: mostPatterns, length: longestPattern })}</small>
                )}
              </label>
            </>
          )}
          <label className="check">
            <input
              type="checkbox"
              checked={fields.autoSync}
              onChange={({ target }) => set({ autoSync: target.checked })}
            />
            <span>{t.knowledge.autoSync}</span>
          </label>
          {fields.autoSync && (
            <label className="field">
              <span>{t.knowledge.interval}</span>
              <input
                className="input"
                type="number"
                min={1}
                max={168}
                required
                value={fields.syncIntervalHours}
                onChange={({ target }) => set({ syncIntervalHours: target.value })}
              />
            </label>
          )}
        </>
      )}
    </>
  )
}
