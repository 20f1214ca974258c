import { Schema } from 'mongoose'
import { moment, optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { BugState } from '#shared/api/platform/bug-reports'

export interface StoredBugReport {
  _id: string
  user_address: string
  category: string
  description: string
  replication_steps: string | null
  /** Keys of the storage. */
  media_keys: string[]
  status: BugState
  admin_notes: string | null
  resolved_by: string | null
  resolved_at: Date | null
  /** The issue at the code host, if any. */
  github_issue_number?: number
  github_issue_url?: string
  /** Until then a request is opening an issue. */
  linking_until?: Date
  created_at: Date
  updated_at: Date
}

export const BugReports = defineModel<StoredBugReport>(
  'BugReports',
  {
    shares: [
      { owner: 'user_address', becomes: 'unlink', clears: ['media_keys'], hides: ['resolved_by'] },
      { owner: 'resolved_by', becomes: 'unlink', archive: false },
    ],
    archive: 'bugReports',
    secret: ['admin_notes', 'linking_until'],
    stays: ['description', 'replication_steps'],
  },
  new Schema<StoredBugReport>(
    {
      _id: required,
      user_address: required,
      category: required,
      description: required,
      replication_steps: optional,
      media_keys: { type: [String], default: [] },
      status: required,
      admin_notes: optional,
      resolved_by: optional,
      resolved_at: { type: Date, default: null },
      github_issue_number: Number,
      github_issue_url: String,
      linking_until: Date,
      created_at: moment,
      updated_at: moment,
    } as object,
    { collection: 'bug_reports', versionKey: false },
  )
    .index({ created_at: -1, _id: -1 })
    .index({ status: 1, created_at: -1, _id: -1 })
    .index({ user_address: 1, status: 1 })
    .index({ media_keys: 1 }),
)
