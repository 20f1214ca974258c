/** The stored body of a message that has a text and nothing else. Its author is added. */
export const plainMessage = (text: string) => ({
  text,
  type: 'text',
  attachments: [],
  mentions: [],
  reply_to: null,
  poll_id: null,
  version: 1,
  edited_at: null,
  deleted: null,
  pinned: null,
  reactions: {},
  flagged: [],
  edits: [],
})
