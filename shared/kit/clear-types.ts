/**
 * The types of messages that only the server and its admins send. They are in clear in direct conversations, whose other messages
 * are sealed.
 */
export const clearTypes = ['system', 'welcome'] as const
export type ClearType = (typeof clearTypes)[number]

export const isInClear = (type: string): type is ClearType => clearTypes.some((one) => one === type)
